(domain kitchen (:predicates (p)))
