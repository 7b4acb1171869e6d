begin_version
2
end_version
