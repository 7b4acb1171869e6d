; nothing here

;; and nothing there
