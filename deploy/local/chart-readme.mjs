/** Writes the part of `helm/orch/README.md` below the mark from the comments of `values.yaml`; `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { answerHelp, fail, repositoryRoot } from './toolchain.mjs';

answerHelp(import.meta.url);
const { dump, load } = await import('js-yaml');
const prettier = await import('prettier');

const CHART = path.join(repositoryRoot, 'helm', 'orch');
const README = path.join(CHART, 'README.md');
const MARK = '<!-- Everything below is made by `npm run generate` from values.yaml. -->';

const head = readFileSync(README, 'utf8').split(MARK)[0];
const options = await prettier.resolveConfig(README);
const text = await prettier.format(`${head}${MARK}\n\n${table()}`, { ...options, parser: 'markdown' });
if (!process.argv.includes('--check')) writeFileSync(README, text);
else if (readFileSync(README, 'utf8') !== text) {
  process.stdout.write('helm/orch/README.md is not what values.yaml says; run npm run generate.\n');
}

function table() {
  const rows = [...rowsOf(readFileSync(path.join(CHART, 'values.yaml'), 'utf8'))];
  const lines = rows.map(({ name, value, doc }) => `| \`${name}\` | \`${value}\` | ${doc} |`);
  return ['| value | default | what it is |', '| --- | --- | --- |', ...lines].join('\n');
}

/** Returns a row for each leaf value, described by the comment above it. */
function* rowsOf(yaml) {
  const values = load(yaml);
  const schema = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8'));
  const place = [];
  let doc = [];
  for (const line of yaml.split('\n')) {
    const [, indent = '', comment, key] = /^( *)(?:# ?(.*)|([A-Za-z]+):.*)?$/u.exec(line) ?? [];
    if (comment !== undefined) doc.push(comment.trim());
    else if (key !== undefined) {
      place.length = indent.length / 2;
      place.push(key);
      const node = place.reduce((at, name) => at?.properties?.[name], schema);
      if (node !== undefined && (node.properties === undefined || key === 'secretNames'))
        yield rowOf(values, place, doc);
      doc = [];
    } else doc = [];
  }
}

function rowOf(values, place, doc) {
  if (doc.length === 0) fail(`${place.join('.')} has no comment in values.yaml.`);
  const value = place.reduce((at, name) => at[name], values);
  const shown = dump(value, { flowLevel: 0, lineWidth: -1 }).trim();
  return { name: place.join('.'), value: shown, doc: doc.join(' ').replaceAll('|', '\\|') };
}
