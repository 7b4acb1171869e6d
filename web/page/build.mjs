// Builds the page into ../dist (or into the folder behind --out); with --tests, its tests into build/page-tests.
//
// page.js is what a visitor loads first; editor.js, with CodeMirror, comes when somebody edits a task. The licences of
// everything that is bundled go to licenses.txt.
import * as esbuild from "esbuild";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const common = { bundle: true, format: "esm", target: "es2022", charset: "utf8", logLevel: "warning" };

// "@codemirror/view", "crelt": the packages that a bundle has parts of.
function packagesOf(metafile) {
  const found = Object.keys(metafile.inputs).flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(found)].sort();
}

function licences(names) {
  const parts = names.map((name) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = ["LICENSE", "LICENSE.md", "license"].map((one) => `${folder}/${one}`).find((one) => existsSync(one));
    if (file === undefined || license !== "MIT") throw new Error(`${name} has no MIT licence`);
    return `${name} ${version}\n\n${readFileSync(file, "utf8").trim()}\n`;
  });
  return `The page of Meta-Ctrl contains these packages.\n\n${parts.join("\n---\n\n")}`;
}

if (process.argv.includes("--tests")) {
  const files = readdirSync("tests").filter((name) => name.endsWith(".test.ts"));
  await esbuild.build({
    ...common,
    entryPoints: files.map((name) => `tests/${name}`),
    outdir: "../../build/page-tests",
    platform: "node",
    outExtension: { ".js": ".mjs" },
  });
} else {
  const out = process.argv.includes("--out") ? process.argv[process.argv.indexOf("--out") + 1] : "../dist";
  mkdirSync(out, { recursive: true });
  await esbuild.build({ ...common, entryPoints: ["src/main.ts"], outfile: `${out}/page.js`, minify: true, external: ["./editor.js"] });
  await esbuild.build({ ...common, entryPoints: ["src/page.css"], outfile: `${out}/page.css`, minify: true });
  const { metafile } = await esbuild.build({ ...common, entryPoints: ["src/editor.ts"], outfile: `${out}/editor.js`, minify: true, metafile: true });
  writeFileSync(`${out}/licenses.txt`, licences(packagesOf(metafile)));
  for (const name of ["index.html", "opening.json"]) copyFileSync(`src/${name}`, `${out}/${name}`);
}
