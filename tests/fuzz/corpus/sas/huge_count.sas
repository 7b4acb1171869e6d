begin_version
3
end_version
begin_metric
0
end_metric
4000000000
