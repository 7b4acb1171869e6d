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
begin_mutex_grou