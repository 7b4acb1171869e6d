begin_version
3
end_version
begin_metric
0
end_metric
2
begin_variable
var0
-1
3
Atom at(a)
Atom at(b)
<none of those>
end_variable
begin_variable
var1
-1
2
Atom lit()
NegatedAtom lit()
end_variable
0
begin_state
0
1
end_state
begin_goal
1
0 2
end_goal
4
begin_operator
go b
1
1 1
1
0 0 0 1
1
end_operator
begin_operator
go b
1
1 0
2
0 0 -1 2
1 0 1 0 -1 1
1
end_operator
begin_operator
press
0
3
0 1 -1 0
1 0 1 1 -1 1
1 1 0 1 -1 0
1
end_operator
begin_operator
wait
0
0
1
end_operator
0
