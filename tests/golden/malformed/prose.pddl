Here is the PDDL domain you asked for:

(define (domain kitchen))
