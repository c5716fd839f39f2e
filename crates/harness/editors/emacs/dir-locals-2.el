;; `harness editors` wrote this file; --remove takes it away.
(
 (nil . ((eval . (progn
   ;; Words, not a line for a shell: what is typed reaches harness as it is.
   (defun harness--start (&rest words)
     (let ((default-directory (or (locate-dominating-file default-directory ".dir-locals-2.el") default-directory)))
       (pop-to-buffer (apply #'make-comint "harness"
"{program}"
         nil words))))
   (defun harness-brief () "Show what the project is." (interactive)
     (harness--start "brief"))
   (defun harness-ask (question) "Answer QUESTION from the code." (interactive "sQuestion: ")
     (harness--start "ask" "--" question))
   (defun harness-run (task) "Hand TASK to harness." (interactive "sTask: ")
     (harness--start "run" "--dry-run" "--" task))
   (defun harness-serve () "Start the server of the project." (interactive)
     (harness--start "serve"))))))
)
