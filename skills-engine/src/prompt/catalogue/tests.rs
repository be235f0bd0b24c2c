mod hostile;
mod parsed;

use super::{Catalogue, CatalogueEntry, CatalogueList, Shown};
use crate::prompt::composer::{AttributeText, PromptComposer, SkillText, ToolText};
use crate::prompt::{CatalogueFormat, CatalogueTiers, Profile, StandardComposer, TokenBudget};
use crate::skill::Level;

const FORMATS: [CatalogueFormat; 5] = [
    CatalogueFormat::Skills,
    CatalogueFormat::AvailableSkills,
    CatalogueFormat::SkillList,
    CatalogueFormat::BoldLines,
    CatalogueFormat::Lines,
];

fn entries() -> [CatalogueEntry<'static>; 2] {
    [
        CatalogueEntry::new("deploy", "Deploys <one> service\n& says so."),
        CatalogueEntry::new("notes", ""),
    ]
}

fn in_format(format: CatalogueFormat) -> Profile {
    Profile::psl().with_format(format)
}

fn of_size(profile: &Profile, tokens: usize, entries: &[CatalogueEntry<'_>]) -> CatalogueList {
    Catalogue::new(profile, &TokenBudget::new(tokens), entries.iter().copied()).all()
}

fn numbers(list: &CatalogueList) -> (usize, usize, usize) {
    let cut = list.cut;
    (cut.shortened, cut.names_only, cut.left_out)
}

#[test]
fn each_profile_has_its_list() {
    for (profile, expected) in [
        (
            Profile::psl(),
            "<skills>\n<skill id=\"deploy\" name=\"deploy\" level=\"METADATA\">\nDeploys &lt;one&gt; service\n&amp; says \
             so.\n</skill>\n<skill id=\"notes\" name=\"notes\" level=\"METADATA\">\n</skill>\n</skills>",
        ),
        (
            Profile::spring(),
            "<available_skills>\n<skill>\n  <name>deploy</name>\n  <description>Deploys &lt;one&gt; service &amp; says \
             so.</description>\n</skill>\n<skill>\n  <name>notes</name>\n  <description></description>\n</skill>\n\
             </available_skills>",
        ),
        (
            Profile::solon(),
            "<skill_list>\n  <skill name=\"deploy\">Deploys &lt;one&gt; service &amp; says so.</skill>\n  <skill \
             name=\"notes\"></skill>\n</skill_list>",
        ),
        (
            Profile::dawn(),
            "- **deploy**: Deploys &lt;one&gt; service &amp; says so.\n- **notes**",
        ),
        (
            Profile::claude(),
            "- deploy: Deploys &lt;one&gt; service &amp; says so.\n- notes",
        ),
    ] {
        let list = of_size(&profile, usize::MAX, &entries());
        assert_eq!(list.text, expected, "{}", profile.name());
        assert!(list.cut.is_empty());
    }
}

#[test]
fn names_alone_have_a_form_too() {
    let note = "Shown by name only: 2 skills. Find out what they are for with `psl-skill__search_skills` or \
                `list_skills`.";
    for (format, expected) in [
        (
            CatalogueFormat::Skills,
            "<skills>\n<skill id=\"deploy\" name=\"deploy\" level=\"METADATA\"/>\n<skill id=\"notes\" name=\"notes\" \
             level=\"METADATA\"/>\n</skills>\n",
        ),
        (
            CatalogueFormat::AvailableSkills,
            "<available_skills>\n<skill>\n  <name>deploy</name>\n</skill>\n<skill>\n  <name>notes</name>\n</skill>\n\
             </available_skills>\n",
        ),
        (
            CatalogueFormat::SkillList,
            "<skill_list>\n  <skill name=\"deploy\" />\n  <skill name=\"notes\" />\n</skill_list>\n",
        ),
        (CatalogueFormat::BoldLines, "- **deploy**\n- **notes**\n"),
        (CatalogueFormat::Lines, "- deploy\n- notes\n"),
    ] {
        let profile = in_format(format).with_tiers(CatalogueTiers::new(1, 2));
        let list = of_size(&profile, usize::MAX, &entries());
        assert_eq!(list.text, format!("{expected}{note}"), "{format:?}");
        assert_eq!(numbers(&list), (0, 2, 0));
    }
}

#[test]
fn places_and_hints_show_where_the_format_has_them() {
    let mut entry = CatalogueEntry::new("a*b", "One.");
    entry.location = Some("/skills/a</location>/SKILL.md");
    entry.argument_hint = Some("[issue]");
    let list = of_size(&Profile::spring(), 100, &[entry]);
    assert_eq!(
        list.text,
        "<available_skills>\n<skill>\n  <name>a*b</name>\n  <description>One.</description>\n  \
         <location>/skills/a&lt;/location&gt;/SKILL.md</location>\n  <argument-hint>[issue]</argument-hint>\n</skill>\n\
         </available_skills>"
    );
    assert_eq!(
        of_size(&Profile::dawn(), 100, &[entry]).text,
        "- **a\\*b**: One."
    );
}

#[test]
fn a_whole_skill_is_written_as_the_composer_writes_it() {
    let tags = ["support".into()];
    let skill = SkillText {
        id: "helpdesk",
        name: "Helpdesk",
        description: "Answers.\r\n# Not a heading",
        tags: &tags,
        level: Level::Metadata,
        attributes: vec![AttributeText {
            name: "sla",
            description: "",
            value: Some("\"24h\""),
            schema: "{}",
            status: None,
            sensitive: false,
        }],
        tools: vec![ToolText {
            name: "helpdesk__ping",
            description: "",
        }],
        instructions: None,
    };
    let mut entry = CatalogueEntry::new("helpdesk", "");
    entry.skill = Some(&skill);
    let mut expected = String::from("<skills>\n");
    StandardComposer.skill(&skill, &mut expected);
    expected.push_str("</skills>");
    assert_eq!(of_size(&Profile::psl(), 100, &[entry]).text, expected);
}

#[test]
fn an_empty_catalogue_is_empty() {
    for format in FORMATS {
        let list = of_size(&in_format(format), 0, &[]);
        assert_eq!(list, CatalogueList::default());
    }
}

/// Three skills with descriptions of 132, 82 and 12 characters.
fn three() -> [(String, String); 3] {
    [("long", 132), ("middle", 82), ("short", 12)]
        .map(|(name, length)| (name.to_owned(), "x".repeat(length)))
}

#[test]
fn descriptions_are_shortened_in_proportion() {
    let skills = three();
    let entries = skills
        .each_ref()
        .map(|(name, text)| CatalogueEntry::new(name, text));
    let profile = Profile::claude();
    assert!(of_size(&profile, 64, &entries).cut.is_empty());
    let list = of_size(&profile, 63, &entries);
    // 252 characters, of which 63 say what was cut and 106 go to the frames and first characters: 83 are left for the 150
    // beyond the first 32 of each.
    let note = "Descriptions shortened: 2 skills. `Skill` gives all of a skill.";
    assert!(list.text.ends_with(note), "{}", list.text);
    assert_eq!(numbers(&list), (2, 0, 0));
    let lengths: Vec<usize> = list
        .text
        .lines()
        .take(3)
        .map(|line| line.matches('x').count())
        .collect();
    let (long, middle) = (lengths[0] + 1 - 32, lengths[1] + 1 - 32);
    assert_eq!(lengths[2], 12);
    assert!(long.abs_diff(2 * middle) <= 2, "{lengths:?}");
    assert!(
        list.text.chars().count() >= 4 * 63 - 2,
        "{}",
        list.text.chars().count()
    );
}

#[test]
fn a_cut_falls_between_characters() {
    let description = "漢<字>&é👍".repeat(20);
    let entry = [CatalogueEntry::new("a", &description)];
    let whole = of_size(&Profile::claude(), 1_000, &entry).text;
    for tokens in 26..whole.chars().count() / 4 {
        let list = of_size(&Profile::claude(), tokens, &entry);
        assert_eq!(numbers(&list), (1, 0, 0), "{tokens}");
        let (line, note) = list.text.split_once('\n').expect("a note");
        assert_eq!(
            note,
            "Descriptions shortened: 1 skill. `Skill` gives all of a skill."
        );
        let shown = line.strip_suffix('…').expect("a mark of what is missing");
        let rest = whole.strip_prefix(shown).expect("a beginning");
        let is_between = ["漢", "&lt;", "字", "&gt;", "&amp;", "é", "👍"]
            .iter()
            .any(|next| rest.starts_with(next));
        assert!(is_between, "{tokens}: {rest}");
    }
}

#[test]
fn skills_used_often_and_never_take_turns() {
    let names: Vec<String> = (0..20).map(|index| format!("skill-{index:02}")).collect();
    let entries: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let mut entry = CatalogueEntry::new(name, "");
            entry.used = if index >= 10 { index as u64 } else { 0 };
            entry
        })
        .collect();
    let list = of_size(&Profile::claude(), 41, &entries);
    assert_eq!(
        list.text,
        "- skill-00\n- skill-01\n- skill-18\n- skill-19\nShown by name only: 4 skills. Not listed: 16 skills. Find them \
         with `psl-skill__search_skills` or `list_skills`."
    );
    assert_eq!(numbers(&list), (0, 4, 16));
}

#[test]
fn what_remains_without_room_is_how_to_search() {
    let entries = [CatalogueEntry::new("deploy", "Deploys.")];
    for tokens in [0, 2] {
        let list = of_size(&Profile::spring(), tokens, &entries);
        assert_eq!(
            list.text,
            "Not listed: 1 skill. Find them with `psl-skill__search_skills` or `list_skills`."
        );
        assert_eq!(numbers(&list), (0, 0, 1));
    }
}

#[test]
fn only_tools_that_the_model_has_are_named() {
    let entries = [CatalogueEntry::new("deploy", "Deploys.")];
    let ending = |tiers: CatalogueTiers, can_search: bool, can_list: bool| {
        let profile = Profile::solon().with_tiers(tiers);
        let catalogue = Catalogue::new(&profile, &TokenBudget::unlimited(), entries);
        let list = catalogue.list(&Shown {
            entries: &[(0, 0)],
            can_list,
            can_search,
        });
        list.text.lines().last().unwrap_or_default().to_owned()
    };
    let (named, none) = (CatalogueTiers::new(0, 1), CatalogueTiers::new(0, 0));
    for (tiers, can_search, can_list, expected) in [
        (
            named,
            true,
            false,
            "Shown by name only: 1 skill. Find out what they are for with `psl-skill__search_skills`.",
        ),
        (
            named,
            false,
            true,
            "Shown by name only: 1 skill. Find out what they are for with `skilllist`.",
        ),
        (
            named,
            false,
            false,
            "Shown by name only: 1 skill. Find out what they are for with `skillread`.",
        ),
        (
            none,
            true,
            false,
            "Not listed: 1 skill. Find them with `psl-skill__search_skills`.",
        ),
        (
            none,
            false,
            true,
            "Not listed: 1 skill. Find them with `skilllist`.",
        ),
        (
            none,
            false,
            false,
            "Not listed: 1 skill. Ask the user for them by name.",
        ),
    ] {
        assert_eq!(ending(tiers, can_search, can_list), expected);
    }
}

#[test]
fn tiers_go_by_the_number_of_skills() {
    let names: Vec<String> = (0..101).map(|index| format!("skill-{index}")).collect();
    let entries: Vec<_> = names
        .iter()
        .map(|name| CatalogueEntry::new(name, "Does it."))
        .collect();
    for (count, expected) in [
        (30, (0, 0, 0)),
        (31, (0, 31, 0)),
        (100, (0, 100, 0)),
        (101, (0, 0, 101)),
    ] {
        let list = of_size(&Profile::solon(), usize::MAX, &entries[..count]);
        assert_eq!(numbers(&list), expected, "{count}");
        assert!(
            of_size(&Profile::claude(), usize::MAX, &entries[..count])
                .cut
                .is_empty()
        );
    }
    assert_eq!(
        numbers(&of_size(&Profile::solon(), 100, &entries[..30])).0,
        0
    );
}

#[test]
fn any_entries_are_listed_in_the_order_asked_for() {
    let names = ["a", "b", "c", "d"];
    let entries = names.map(|name| CatalogueEntry::new(name, "Does."));
    let catalogue = Catalogue::new(&Profile::claude(), &TokenBudget::new(1_000), entries);
    assert_eq!(catalogue.len(), 4);
    let list = catalogue.list(&Shown::new(&[(3, 0), (9, 0), (0, 0), (1, 5)]));
    assert_eq!(list.text, "- d: Does.\n- a: Does.\n- b: Does.");
    assert_eq!(
        catalogue.list(&Shown::new(&[(9, 0)])),
        CatalogueList::default()
    );
}
