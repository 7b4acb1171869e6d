begin_version
3
end_version
begin_metric
1
end_metric
4
begin_variable
var0
-1
3
Atom at(parcel, depot)
Atom at(parcel, shop)
Atom in(parcel, truck)
end_variable
begin_variable
var1
-1
2
Atom at(truck, depot)
Atom at(truck, shop)
end_variable
begin_variable
var2
0
2
Atom loaded()
NegatedAtom loaded()
end_variable
begin_variable
var3
-1
2
Atom noisy()
<none of those>
end_variable
1
begin_mutex_group
2
1 0
1 1
end_mutex_group
begin_state
0
0
1
1
end_state
begin_goal
2
0 1
2 1
end_goal
5
begin_operator
drive truck depot shop
0
2
0 1 0 1
1 2 0 3 -1 0
7
end_operator
begin_operator
drive truck shop depot
0
1
0 1 1 0
7
end_operator
begin_operator
LOAD parcel truck depot
1
1 0
1
0 0 0 2
1
end_operator
begin_operator
unload parcel truck shop
1
1 1
1
0 0 2 1
1
end_operator
begin_operator
honk
1
2 0
0
0
end_operator
1
begin_rule
1
0 2
2 1 0
end_rule
