#!/usr/bin/env python3
"""A real WordPress on loopback, filled with pages, for tests.

    wordpress.py start FOLDER [SITE]    prints a line of JSON: url, admin, author, posts
    wordpress.py stop FOLDER

Installs WordPress, PHP and MariaDB from Debian's packages where they are missing (as root), copies WordPress into
FOLDER, starts a database and PHP's web server on free ports of 127.0.0.1, and fills the site from examples/site, or
from the articles of SITE, a folder of HTML: every second for the block editor, the others for the classic one. All of
it lives in FOLDER; `stop` ends both processes. Starting twice gives the same answer. Nothing is reached but 127.0.0.1
and Debian's packages.
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

PACKAGES = ["wordpress", "php-cli", "php-mysql", "php-xml", "php-mbstring", "php-curl", "mariadb-server"]
WORDPRESS = Path("/usr/share/wordpress")
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "site"
WAIT_SECONDS = 60

CONFIG = """<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'wordpress');
define('DB_PASSWORD', 'only-on-loopback');
define('DB_HOST', '127.0.0.1:%(database)d');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $name) {
    define($name, 'a test site has no secrets: ' . $name);
}
$table_prefix = 'wp_';
define('WP_HOME', '%(url)s');
define('WP_SITEURL', '%(url)s');
define('WP_ENVIRONMENT_TYPE', 'local');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('DISABLE_WP_CRON', true);
define('WP_DEBUG', false);
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
"""

ROUTER = """<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$file = $_SERVER['DOCUMENT_ROOT'] . $path;
if ($path !== '/' && is_file($file)) { return false; }
if (is_dir($file) && is_file(rtrim($file, '/') . '/index.php') && $path !== '/') { return false; }
$_SERVER['SCRIPT_NAME'] = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . '/index.php';
$_SERVER['PHP_SELF'] = '/index.php';
chdir($_SERVER['DOCUMENT_ROOT']);
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
"""

PLUGIN = """<?php
add_action('init', function () {
    register_post_type('recipe', ['label' => 'Recipes', 'public' => true, 'show_in_rest' => true, 'rest_base' => 'recipes',
        'supports' => ['title', 'editor', 'revisions'], 'rewrite' => ['slug' => 'recipe']]);
});
add_shortcode('rating', fn () => '<span class="rating">five of five</span>');
"""

THEME = """<?php if (!is_singular()) { $list = true; } ?><!doctype html>
<html <?php language_attributes(); ?>><head><meta charset="<?php bloginfo('charset'); ?>"><?php wp_head(); ?></head>
<body <?php body_class(); ?>><header><nav><a href="<?php echo esc_url(home_url('/')); ?>">Home</a></nav></header><main>
<?php while (have_posts()) { the_post(); ?>
<article <?php post_class(); ?>><h1><a href="<?php the_permalink(); ?>"><?php the_title(); ?></a></h1>
<?php if (isset($list)) { the_excerpt(); } else { the_content(); } ?></article>
<?php } if (isset($list)) { the_posts_pagination(); } ?>
</main><footer><p>Harbour Bakery</p></footer><?php wp_footer(); ?></body></html>
"""

FILL = r"""<?php
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = parse_url('%(url)s', PHP_URL_HOST) . ':' . parse_url('%(url)s', PHP_URL_PORT);
require '%(root)s/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
if (!is_blog_installed()) { wp_install('Harbour Bakery', 'admin', 'admin@example.org', true, '', 'only-on-loopback'); }
update_option('permalink_structure', '/%%postname%%/');
update_option('posts_per_page', 50);
switch_theme('plain');
foreach (get_posts(['post_type' => ['post', 'page'], 'numberposts' => -1, 'post_status' => 'any']) as $post) { wp_delete_post($post->ID, true); }
$author = wp_insert_user(['user_login' => 'author', 'user_pass' => 'only-on-loopback', 'user_email' => 'author@example.org', 'role' => 'author']);
$users = ['admin' => get_user_by('login', 'admin')->ID, 'author' => $author];
$out = ['posts' => []];
foreach ($users as $name => $id) {
    [$password] = WP_Application_Passwords::create_new_application_password($id, ['name' => 'linkwright']);
    $out[$name] = ['user' => $name, 'password' => WP_Application_Passwords::chunk_password($password)];
}
kses_remove_filters();
foreach (json_decode(file_get_contents('%(posts)s'), true) as $post) {
    $id = wp_insert_post(wp_slash(['post_title' => $post['title'], 'post_name' => $post['slug'], 'post_content' => $post['content'],
        'post_type' => $post['type'], 'post_status' => $post['status'], 'post_author' => $users[$post['author']],
        'post_password' => $post['password'], 'post_date' => $post['date']]), true);
    if (is_wp_error($id)) { fwrite(STDERR, $post['slug'] . ': ' . $id->get_error_message() . "\n"); exit(1); }
    foreach ($post['meta'] as $key => $value) { update_post_meta($id, $key, wp_slash($value)); }
    $out['posts'][$post['slug']] = $id;
}
flush_rewrite_rules(true);
echo json_encode($out);
"""


def fail(message):
    sys.exit(f"wordpress.py: {message}")


def install():
    """Debian's packages, where any is missing."""
    if shutil.which("php") and shutil.which("mariadbd") and (WORDPRESS / "wp-load.php").exists():
        return
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            fail(f"`{' '.join(command)}` failed:\n{done.stdout[-2000:]}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(what, is_there):
    for _ in range(WAIT_SECONDS * 10):
        if is_there():
            return
        time.sleep(0.1)
    fail(f"{what} did not start within {WAIT_SECONDS} s")


def answers(port):
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def spawn(folder, name, command, **more):
    log = open(folder / f"{name}.log", "ab")
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **more)


def start_database(folder, port):
    data = folder / "database"
    if not data.exists():
        made = subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-test-db"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode:
            fail(f"the database could not be made:\n{made.stdout[-2000:]}")
    users = folder / "users.sql"
    users.write_text(
        "CREATE DATABASE IF NOT EXISTS wordpress CHARACTER SET utf8mb4;\n"
        "CREATE USER IF NOT EXISTS 'wordpress'@'127.0.0.1' IDENTIFIED BY 'only-on-loopback';\n"
        "GRANT ALL ON wordpress.* TO 'wordpress'@'127.0.0.1';\n")
    # Paths of sockets may not be long; nothing uses it.
    sockets = Path(f"/tmp/linkwright-{port}.sock")
    return spawn(folder, "database", [
        "mariadbd", "--no-defaults", f"--datadir={data}", "--user=root", f"--port={port}", "--bind-address=127.0.0.1",
        f"--socket={sockets}", f"--pid-file={folder}/database.pid", f"--init-file={users}", "--skip-name-resolve",
        "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--performance-schema=OFF"])


def copy_wordpress(folder, url, database):
    root = folder / "site"
    if not root.exists():
        shutil.copytree(WORDPRESS, root, ignore_dangling_symlinks=True)
    config = root / "wp-config.php"
    if config.is_symlink():
        config.unlink()
    config.write_text(CONFIG % {"database": database, "url": url})
    (folder / "router.php").write_text(ROUTER)
    plugins, theme = root / "wp-content" / "mu-plugins", root / "wp-content" / "themes" / "plain"
    plugins.mkdir(exist_ok=True)
    theme.mkdir(parents=True, exist_ok=True)
    (plugins / "recipes.php").write_text(PLUGIN)
    (theme / "style.css").write_text("/*\nTheme Name: Plain\n*/\n")
    (theme / "index.php").write_text(THEME)
    (theme / "functions.php").write_text("<?php add_theme_support('title-tag');\n")
    return root


def blocks(html):
    """Paragraphs and headings as the block editor keeps them."""
    out = []
    for found in re.finditer(r"<(p|h2|h3|ul|ol|table|pre|blockquote|figure)\b[^>]*>.*?</\1>", html, re.S):
        whole, tag = found.group(0), found.group(1)
        name = {"p": "paragraph", "h2": "heading", "h3": "heading"}.get(tag, "html")
        out.append(f"<!-- wp:{name} -->\n{whole}\n<!-- /wp:{name} -->")
    return "\n\n".join(out)


def classic(html):
    """As the classic editor keeps it: a blank line for a paragraph."""
    text = re.sub(r"<p\b[^>]*>(.*?)</p>", r"\1\n", html, flags=re.S)
    return re.sub(r"\n\s*\n+", "\n\n", re.sub(r"^[ \t]+", "", text, flags=re.M)).strip()


def examples():
    """The English posts of the example site."""
    for number, file in enumerate(sorted((EXAMPLE / "blog").glob("*/index.html"))):
        html = file.read_text(encoding="utf-8")
        article = re.search(r"<article>(.*?)</article>", html, re.S)
        title = re.search(r"<h1[^>]*>(.*?)</h1>", html, re.S)
        if not (article and title):
            continue
        body = re.sub(r"<header>.*?</header>|<p class=\"tags\">.*?</p>|<nav\b.*?</nav>", "", article.group(1), flags=re.S)
        body = re.sub(r'href="/blog/([a-z0-9-]+)/"', r'href="/\1/"', body)
        yield {"slug": file.parent.name, "title": re.sub(r"<[^>]+>", "", title.group(1)),
               "content": blocks(body) if number % 2 else classic(body)}


def prose(seed):
    """Forty sentences that say little, others for each seed."""
    chance = random.Random(seed)
    words = {
        "who": ["the baker", "a neighbour", "our apprentice", "the miller", "a guest from the coast", "my aunt", "the carpenter", "a student"],
        "does": ["remembers", "describes", "compares", "measures", "forgets", "draws", "writes down", "argues about"],
        "what": ["the warm kitchen", "an old tin", "the morning light", "a wooden bench", "the first loaf", "a bag of salt", "the long winter",
                 "a broken clock", "the harbour wall", "a pound of butter"],
        "when": ["before the shop opens", "on market days", "after the rain", "in the week of the fair", "late at night", "while the kettle sings"],
    }
    one = lambda kind: chance.choice(words[kind])
    sentence = lambda: f"{one('who')} {one('does')} {one('what')} and {one('what')} {one('when')}."
    return " ".join((text := sentence())[0].upper() + text[1:] for _ in range(40)) + " "


def special():
    """Pages whose text is easily spoilt, and pages that must not be written."""
    text = ("He said \"it's done -- at last...\" and left. A path is C:\\bread\\n\\t and 3 x 4 is 12 &amp; more. "
            "The dough \U0001f35e rises & falls. ")
    paragraph = lambda inner: f"<!-- wp:paragraph {{\"fontSize\":\"small\"}} -->\n<p class=\"has-small-font-size\">{inner}</p>\n<!-- /wp:paragraph -->"
    embed = "<!-- wp:html -->\n<iframe src=\"/frame\"></iframe><script>var a = 1 < 2 && \"x\";</script>\n<!-- /wp:html -->"
    yield {"slug": "spoilt-blocks", "title": "What quotes do to bread",
           "content": "\n\n".join([paragraph(text), paragraph(prose(1) + "For keeping a sourdough starter alive, he said, \"one spoon a day\" isn't much -- and it's enough."), embed,
                                   "<!-- wp:block {\"ref\":1} /-->", "<!-- wp:latest-posts {\"postsToShow\":3} /-->"])}
    yield {"slug": "spoilt-classic", "title": "What breaks do to bread",
           "content": f"{text}\n\n[rating stars=\"5\"]\n{prose(2)}\n\nShe asked how to store bread so that it lasts \"until Friday\" -- it's a matter of cloth...\n\n<script>if (a < b) {{ c(); }}</script>"}
    yield {"slug": "about-us", "title": "About us", "type": "page", "content": paragraph(prose(3) + "The shelf in the shop has a guide to the flours on our shelf pinned beside it.")}
    yield {"slug": "poolish-recipe", "title": "A recipe with poolish", "type": "recipe", "content": paragraph(prose(4) + "It is done by shaping a round loaf and leaving it alone.")}
    yield {"slug": "author-frame", "title": "By an author", "author": "author", "content": f"{paragraph(prose(5) + 'Nothing is as dark as cardamom buns for a dark morning can be.')}\n\n{embed}"}
    yield {"slug": "author-plain", "title": "By an author, plainly", "author": "author", "content": paragraph(prose(6) + "Read why rye is another bread before you knead it.")}
    yield {"slug": "built-elementor", "title": "Built by hand", "content": f"<div data-elementor-type=\"wp-post\" class=\"elementor elementor-9\"><p>{prose(7)}Baking bread in a Dutch oven is the whole trick.</p></div>",
           "meta": {"_elementor_edit_mode": "builder", "_elementor_data": "[]"}}
    yield {"slug": "built-divi", "title": "Built of sections", "content": f"[et_pb_section][et_pb_text]{prose(8)}Steam in a home oven is a matter of patience.[/et_pb_text][/et_pb_section]"}
    yield {"slug": "secret-bread", "title": "Secret bread", "content": paragraph(prose(9)), "password": "crumb"}
    yield {"slug": "unbaked", "title": "Unbaked", "content": paragraph(prose(10)), "status": "draft"}


def articles(site):
    """The articles of a folder of HTML. Links among them lead to the posts that they become."""
    found = {}
    for file in sorted(site.rglob("index.html")):
        html = file.read_text(encoding="utf-8")
        article = re.search(r"<article\b[^>]*>(.*?)</article>", html, re.S)
        title = re.search(r"<h1[^>]*>(.*?)</h1>", html, re.S)
        slug = re.sub(r"[^a-z0-9]+", "-", file.parent.name.lower()).strip("-")
        if article and title and slug not in found:
            body = re.sub(r"<header\b.*?</header>", "", article.group(1), flags=re.S)
            found[slug] = (f"/{file.parent.relative_to(site)}/", re.sub(r"<[^>]+>", "", title.group(1)), body)
    post_of = {path: f"/{slug}/" for slug, (path, _, _) in found.items()}
    for number, (slug, (_, title, body)) in enumerate(found.items()):
        body = re.sub(r'href="(/[^"#?]*)', lambda link: f'href="{post_of.get(link.group(1), link.group(1))}', body)
        yield {"slug": slug, "title": title, "content": blocks(body) if number % 2 else classic(body)}


def posts(site):
    usual = {"type": "post", "status": "publish", "author": "admin", "password": "", "meta": {}}
    chosen = articles(site) if site else [*examples(), *special()]
    for number, post in enumerate(chosen):
        yield {**usual, "date": f"2025-{number % 12 + 1:02}-01 08:00:00", **post}


def php(folder, template, values):
    script = folder / "fill.php"
    script.write_text(template % values)
    done = subprocess.run(["php", str(script)], capture_output=True, text=True)
    start = done.stdout.find("{")
    if done.returncode or start < 0:
        fail(f"WordPress could not be filled: {done.stderr[-1000:]}{done.stdout[-1000:]}")
    return json.loads(done.stdout[start:])


def is_alive(state):
    try:
        for name in ("database_process", "web_process"):
            os.kill(state[name], 0)
    except OSError:
        return False
    return True


def start(folder, site):
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "state.json"
    if kept.exists() and is_alive(state := json.loads(kept.read_text())):
        print(json.dumps(state["answer"]))
        return
    install()
    database, web = free_port(), free_port()
    url = f"http://127.0.0.1:{web}"
    database_process = start_database(folder, database)
    web_process = None
    try:
        wait_for("the database", lambda: database_process.poll() is None and answers(database))
        root = copy_wordpress(folder, url, database)
        texts = folder / "posts.json"
        texts.write_text(json.dumps(list(posts(site))))
        answer = php(folder, FILL, {"url": url, "root": root, "posts": texts})
        web_process = spawn(
            folder, "web", ["php", "-d", "display_errors=0", "-S", f"127.0.0.1:{web}", "-t", str(root), str(folder / "router.php")],
            env=dict(os.environ, PHP_CLI_SERVER_WORKERS="4"))
        wait_for("the web server", lambda: answers(web))
        with urllib.request.urlopen(f"{url}/wp-json/", timeout=60) as response:
            json.load(response)
    except BaseException:
        for process in (web_process, database_process):
            if process:
                os.killpg(process.pid, signal.SIGKILL)
        raise
    answer = {"url": f"{url}/", **answer}
    kept.write_text(json.dumps({"answer": answer, "database_process": database_process.pid, "web_process": web_process.pid}))
    print(json.dumps(answer))


def stop(folder):
    kept = folder / "state.json"
    if not kept.exists():
        return
    state = json.loads(kept.read_text())
    for name in ("web_process", "database_process"):
        try:
            os.killpg(state[name], signal.SIGTERM)
        except OSError:
            continue
        for _ in range(100):
            try:
                os.killpg(state[name], 0)
            except OSError:
                break
            time.sleep(0.1)
        else:
            os.killpg(state[name], signal.SIGKILL)
    kept.unlink()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["start", folder, *site] if len(site) < 2:
            start(Path(folder).resolve(), Path(site[0]).resolve() if site else None)
        case ["stop", folder]:
            stop(Path(folder).resolve())
        case _:
            sys.exit(__doc__)
