;; `harness editors` wrote this file; --remove takes it away.
(
 (nil . ((eval . (progn
   (defconst harness--program
"{program}"
     "The program, by its full path.")
   (defun harness--root () "Return the folder of the project."
     (or (locate-dominating-file default-directory ".dir-locals-2.el") default-directory))
   ;; Words, not a line for a shell: what is typed reaches harness as it is.
   (defun harness--start (&rest words)
     (let ((default-directory (harness--root)))
       (pop-to-buffer (apply #'make-comint "harness" harness--program nil words))))
   (defun harness-brief () "Show what the project is." (interactive)
     (harness--start "brief"))
   (defun harness-ask (question) "Answer QUESTION from the code." (interactive "sQuestion: ")
     (harness--start "ask" "--" question))
   (defun harness-run (task) "Hand TASK to harness." (interactive "sTask: ")
     (harness--start "run" "--dry-run" "--" task))
   (defun harness-serve () "Start the server of the project." (interactive)
     (harness--start "serve"))
   (defun harness-chat () "Converse with harness in agent-shell." (interactive)
     (unless (require 'agent-shell nil t) (user-error "harness-chat needs the package agent-shell"))
     (let ((default-directory (harness--root)))
       (agent-shell-start
        :config (agent-shell-make-agent-config
                 :mode-line-name "harness" :buffer-name "harness"
                 :shell-prompt "harness> " :shell-prompt-regexp "harness> "
                 :welcome-function (lambda (_config) "")
                 :client-maker (lambda (buffer)
                                 (acp-make-client :context-buffer buffer :command harness--program
                                                  :command-params '("acp")))))))))))
)
