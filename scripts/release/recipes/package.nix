# Nix: `pkgs.callPackage ./package.nix { }`. The programs for Linux are static, so nothing is patched.
{ lib, stdenvNoCC, fetchurl }:

let
  version = "{{version}}";
  sources = {
    x86_64-linux = { target = "x86_64-unknown-linux-musl"; sha256 = "{{sha256 harness-{{version}}-x86_64-unknown-linux-musl.tar.gz}}"; };
    aarch64-linux = { target = "aarch64-unknown-linux-musl"; sha256 = "{{sha256 harness-{{version}}-aarch64-unknown-linux-musl.tar.gz}}"; };
    x86_64-darwin = { target = "x86_64-apple-darwin"; sha256 = "{{sha256 harness-{{version}}-x86_64-apple-darwin.tar.gz}}"; };
    aarch64-darwin = { target = "aarch64-apple-darwin"; sha256 = "{{sha256 harness-{{version}}-aarch64-apple-darwin.tar.gz}}"; };
  };
  system = stdenvNoCC.hostPlatform.system;
  source = sources.${system} or (throw "harness has no program for ${system}");
in
stdenvNoCC.mkDerivation {
  pname = "harness";
  inherit version;

  src = fetchurl {
    url = "https://github.com/{{repository}}/releases/download/v${version}/harness-${version}-${source.target}.tar.gz";
    inherit (source) sha256;
  };

  installPhase = ''
    runHook preInstall
    install -Dm755 harness $out/bin/harness
    install -Dm644 man/harness.1 $out/share/man/man1/harness.1
    install -Dm644 completions/harness.bash $out/share/bash-completion/completions/harness
    install -Dm644 completions/_harness $out/share/zsh/site-functions/_harness
    install -Dm644 completions/harness.fish $out/share/fish/vendor_completions.d/harness.fish
    runHook postInstall
  '';

  meta = {
    description = "Local coding agent that proves its work with the project's own tests";
    homepage = "https://github.com/{{repository}}";
    license = lib.licenses.mit;
    mainProgram = "harness";
    platforms = builtins.attrNames sources;
  };
}
