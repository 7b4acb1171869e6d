; Watch-And-Help: what a person wants, written down goal by goal. A plan of this domain is a goal for environment.pddl.
;
; Objects are classes of things: apple, fridge. Which goals a class can serve the problem says, after a look at the apartment
; (src/benchmarks/watch_and_help/goal_problem.h): enough things that can be got hold of, a place that takes them. Each goal
; uses up one of them, so that all that is written can be reached together.
(define (domain watch-and-help-goal)
  (:requirements :adl :typing)
  (:types class number)

  (:predicates
    (takes-on ?y - class)      ; there is one that things can be put onto
    (takes-inside ?y - class)  ; there is one that things can be put into
    (takes-turnon ?y - class)  ; there is one that is on or can be switched on
    (left ?x - class ?n - number)
    (next ?m ?n - number)      ; n = m + 1
    (turned ?y - class)
    (written))

  (:action on
    :parameters (?x ?y - class)
    :precondition (and
      (takes-on ?y)
      (not (= ?x ?y))
      (exists (?m ?n - number) (and (left ?x ?n) (next ?m ?n))))
    :effect (and (written)
      (forall (?m ?n - number)
        (when (and (left ?x ?n) (next ?m ?n)) (and (not (left ?x ?n)) (left ?x ?m))))))

  (:action inside
    :parameters (?x ?y - class)
    :precondition (and
      (takes-inside ?y)
      (not (= ?x ?y))
      (exists (?m ?n - number) (and (left ?x ?n) (next ?m ?n))))
    :effect (and (written)
      (forall (?m ?n - number)
        (when (and (left ?x ?n) (next ?m ?n)) (and (not (left ?x ?n)) (left ?x ?m))))))

  (:action turnon
    :parameters (?y - class)
    :precondition (and
      (takes-turnon ?y)
      (not (turned ?y)))
    :effect (and (written) (turned ?y))))
