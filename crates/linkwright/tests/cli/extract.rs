use crate::sandbox::Sandbox;

#[test]
fn extract_prints_main_text_by_file_name_without_menus() {
    let sandbox = Sandbox::with_site();
    sandbox.write("flat/rye.html", &sandbox.read("site/blog/rye-bread/index.html"));
    sandbox.write("flat/notes.txt", "not a page");
    let texts = sandbox.run(&["extract", "flat"]).expect_code(0).json();
    let names: Vec<&String> = texts.as_object().unwrap().keys().collect();
    assert_eq!(names, ["rye"]);
    let text = texts["rye"].as_str().unwrap();
    assert!(text.contains("scraped into a tin rather than shaped"));
    assert!(!text.contains("sold out"), "the footer is no main text");
}
