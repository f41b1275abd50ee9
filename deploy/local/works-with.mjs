/** Writes the table of clients between its marks in README.md from `e2e/clients/results.json`; `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import * as prettier from 'prettier';
import { answerHelp, fail, repositoryRoot } from './toolchain.mjs';

const README = path.join(repositoryRoot, 'README.md');
const MARKS = [
  '<!-- The table is made by `npm run generate` from e2e/clients/results.json. -->',
  '<!-- The end of the table. -->',
];

answerHelp(import.meta.url);
const results = JSON.parse(readFileSync(path.join(repositoryRoot, 'e2e', 'clients', 'results.json'), 'utf8'));
const rows = Object.entries(results).map(
  ([title, { version, date, dialects, checked }]) =>
    `| ${title} | ${version} | ${dialects.join(', ')} | ${checked.join(', ')} | ${date} |`,
);
const table = [
  '| client | version | dialects | checked | last run |',
  '| --- | --- | --- | --- | --- |',
  ...rows,
];
const written = readFileSync(README, 'utf8');
const [head, , tail] = written.split(new RegExp(MARKS.join('|'), 'u'));
if (tail === undefined) fail('README.md lacks the marks of the table of clients.');
const options = await prettier.resolveConfig(README);
const text = await prettier.format([head, MARKS[0], `\n\n${table.join('\n')}\n\n`, MARKS[1], tail].join(''), {
  ...options,
  parser: 'markdown',
});
if (!process.argv.includes('--check')) writeFileSync(README, text);
else if (written !== text) fail('README.md differs from e2e/clients/results.json; run npm run generate.');
