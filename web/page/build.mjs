// Builds the page into ../dist (or into the folder behind --out); with --tests, its tests into build/page-tests.
import * as esbuild from "esbuild";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";

const common = { bundle: true, format: "esm", target: "es2022", charset: "utf8", logLevel: "warning" };
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
  await esbuild.build({ ...common, entryPoints: ["src/main.ts"], outfile: `${out}/page.js`, minifyWhitespace: true, minifySyntax: true });
  for (const name of ["index.html", "page.css"]) copyFileSync(`src/${name}`, `${out}/${name}`);
}
