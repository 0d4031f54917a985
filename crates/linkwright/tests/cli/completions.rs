use crate::sandbox::Sandbox;

#[test]
fn every_shell_has_a_script_that_names_the_sub_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = Sandbox::empty().run(&["completions", shell]).expect_code(0);
        for command in ["plan", "explain", "export"] {
            assert!(outcome.stdout.contains(command), "{command} in {shell}");
        }
    }
}
