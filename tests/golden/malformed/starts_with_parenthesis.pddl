)(define (domain kitchen))
