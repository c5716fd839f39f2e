# Homebrew: `brew install OWNER/tap/harness` where this file is Formula/harness.rb of a tap.
class Harness < Formula
  desc "Local coding agent that proves its work with the project's own tests"
  homepage "https://github.com/{{repository}}"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/{{repository}}/releases/download/v{{version}}/harness-{{version}}-aarch64-apple-darwin.tar.gz"
      sha256 "{{sha256 harness-{{version}}-aarch64-apple-darwin.tar.gz}}"
    end
    on_intel do
      url "https://github.com/{{repository}}/releases/download/v{{version}}/harness-{{version}}-x86_64-apple-darwin.tar.gz"
      sha256 "{{sha256 harness-{{version}}-x86_64-apple-darwin.tar.gz}}"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/{{repository}}/releases/download/v{{version}}/harness-{{version}}-aarch64-unknown-linux-musl.tar.gz"
      sha256 "{{sha256 harness-{{version}}-aarch64-unknown-linux-musl.tar.gz}}"
    end
    on_intel do
      url "https://github.com/{{repository}}/releases/download/v{{version}}/harness-{{version}}-x86_64-unknown-linux-musl.tar.gz"
      sha256 "{{sha256 harness-{{version}}-x86_64-unknown-linux-musl.tar.gz}}"
    end
  end

  def install
    bin.install "harness"
    bash_completion.install "completions/harness.bash" => "harness"
    zsh_completion.install "completions/_harness"
    fish_completion.install "completions/harness.fish"
    man1.install "man/harness.1"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/harness --version")
    (testpath/"a.py").write "def one():\n    return 1\n"
    assert_match "Python", shell_output("#{bin}/harness brief #{testpath}")
  end
end
