#!/usr/bin/env python3
"""From a plan to links on a site and back, with every byte compared.

    round_trip.py [--accept N] [--base-url URL] LINKWRIGHT SITE

SITE is a folder of HTML or Markdown, which is copied first, or the folder of a WordPress that scripts/wordpress.py
started. Plans the site, accepts the N best opportunities (200), writes
them, looks for them, plans again (none of their pairs may be proposed again), takes them back, and compares what is
there with what was there before. Prints what it saw; the exit code is 1 when a promise was broken.
"""

import argparse
import base64
import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path


def run(arguments, *command, codes=(0, 1)):
    """A command of linkwright on the project: its output, and the seconds that it took."""
    began = time.monotonic()
    environment = dict(os.environ, **arguments.environment)
    done = subprocess.run([arguments.linkwright, *command, "--project", arguments.project], capture_output=True, text=True, env=environment)
    if done.returncode not in codes:
        sys.exit(f"`linkwright {' '.join(command)}` ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout, time.monotonic() - began


def table(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def bytes_of_folder(folder):
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file()}


def texts_of_wordpress(answer):
    """Every post as its editor sees it."""
    token = base64.b64encode(f"{answer['admin']['user']}:{answer['admin']['password']}".encode()).decode()
    found, page = {}, 1
    while True:
        address = f"{answer['url']}wp-json/wp/v2/posts?context=edit&per_page=100&page={page}&status=publish,draft"
        with urllib.request.urlopen(urllib.request.Request(address, headers={"Authorization": f"Basic {token}"})) as response:
            found |= {post["id"]: hashlib.sha256(post["content"]["raw"].encode()).hexdigest() for post in json.load(response)}
            if page >= int(response.headers["X-WP-TotalPages"]):
                return found
        page += 1


def pairs(rows):
    return {(row["Source URL"], row["Target URL"]) for row in rows}


def round_trip(arguments, site, state):
    plan = ["plan", site, *(["--base-url", arguments.base_url] if arguments.base_url else [])]
    _, planned = run(arguments, *plan)
    queue = sorted(table(run(arguments, "export", "queue")[0]), key=lambda row: -float(row["Score"]))
    accepted = queue[: arguments.accept]
    decisions = Path(arguments.project) / "decisions.csv"
    with decisions.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Opportunity ID", "Decision"])
        writer.writerows([row["Opportunity ID"], "accept"] for row in accepted)
    run(arguments, "import", "decisions", str(decisions), codes=(0,))

    before = state()
    written, writing = run(arguments, "apply", "--write", "--max-pages", "1000000", "--format", "json")
    written = json.loads(written)
    links = sum(len(page["links"]) for page in written["pages"])
    refused = [skipped for page in written["pages"] for skipped in page["skipped"]]
    between = state()
    changed = [name for name in before if before[name] != between.get(name)]

    _, looking = run(arguments, "verify")
    observed = sum(row["State"] == "observed" for row in table(run(arguments, "export", "queue")[0]))
    run(arguments, *plan)
    again = pairs(accepted) & pairs(table(run(arguments, "export", "plan")[0]))

    taking = sum(run(arguments, "undo", number)[1] for number in sorted({row["Run"] for row in table(run(arguments, "export", "edits")[0])}))
    after = state()
    spoilt = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))

    print(f"{len(queue)} opportunities planned in {planned:.0f} s, {len(accepted)} accepted")
    print(f"{links} links written to {len(changed)} pages in {writing:.1f} s; refused: {len(refused)}")
    for skipped in refused[:20]:
        print(f"  {json.dumps(skipped, ensure_ascii=False)[:300]}")
    print(f"{observed} observed in {looking:.1f} s; proposed again by the next plan: {len(again)}")
    print(f"taken back in {taking:.1f} s; of {len(before)} files or posts {len(spoilt)} are not as before")
    for name in spoilt[:20]:
        print(f"  {name}")
    return not (refused or again or spoilt) and links == observed == len(accepted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("linkwright")
    parser.add_argument("site")
    parser.add_argument("--accept", type=int, default=200)
    parser.add_argument("--base-url")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments.project, arguments.environment = f"{folder}/project", {}
        os.mkdir(arguments.project)
        wordpress = Path(arguments.site) / "state.json"
        if wordpress.exists():
            answer = json.loads(wordpress.read_text())["answer"]
            arguments.environment = {"LINKWRIGHT_WORDPRESS_PASSWORD": answer["admin"]["password"]}
            settings = f"[wordpress]\nurl = \"{answer['url']}\"\nuser = \"admin\"\n[crawl]\ninterval_ms = 0\n[apply]\npause_ms = 0\n"
            (Path(arguments.project) / "linkwright.toml").write_text(settings)
            kept = round_trip(arguments, answer["url"], lambda: texts_of_wordpress(answer))
        else:
            copy = Path(folder) / "site"
            shutil.copytree(arguments.site, copy, symlinks=True)
            kept = round_trip(arguments, str(copy), lambda: bytes_of_folder(copy))
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
