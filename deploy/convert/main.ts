#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { parseVersionFlag } from '../../shared/flags/version-flag';
import { parseGroupVersion } from '../../shared/api/resources';
import type { FlagRow } from '../../shared/flags/flag-row';
import { writeHelp } from '../../shared/flags/help';
import { parseFlags } from '../../shared/flags/parse-flags';
import { readManifestFiles } from '../../shared/files/manifest-files';
import { apiLevel, API_LEVELS, formatApiLevel } from '../../shared/api-level';
import { dialect, DIALECTS } from '../../shared/names';
import { convertText } from './convert-text';

const PROGRAM = 'orch-convert';
const SUMMARY =
  'Converts manifests to another version of their API and writes them to standard output. Comments and order of what does not change are kept.';
const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

const FLAGS = [
  {
    name: 'filename',
    short: 'f',
    type: 'stringList',
    default: [],
    group: 'Input',
    help: 'Files and folders with manifests (YAML or JSON), or - for standard input. Of a folder, the files that end in .yaml, .yml and .json, without its subfolders.',
  },
  {
    name: 'output-version',
    type: 'string',
    default: '',
    group: 'Output',
    help: 'The version to convert to, as <group>/<version>. Kinds that do not have it, and all kinds without this flag, are converted to the stable version of their group.',
  },
  {
    name: 'dialect',
    type: 'enum',
    values: DIALECTS,
    default: dialect,
    group: 'Input',
    help: 'The dialect of the names in the manifests.',
  },
  {
    name: 'api-level',
    type: 'enum',
    values: API_LEVELS,
    default: formatApiLevel(apiLevel),
    group: 'Input',
    help: 'The Kubernetes release whose versions and fields are known.',
  },
] as const satisfies readonly FlagRow[];

/** Converts what the command line names. Nothing is written when something cannot be converted. */
function main(words: readonly string[]): number {
  const version = parseVersionFlag(PROGRAM, words);
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return EXIT.ok;
  }
  const { argv } = version;
  const parsed = parseFlags(FLAGS, argv);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, FLAGS, { program: PROGRAM, summary: SUMMARY });
    return EXIT.ok;
  }
  if (parsed.outcome === 'errors') return refuse(parsed.errors);
  const { filename, outputVersion } = parsed.values;
  if (filename.length === 0) return refuse(['-f is required']);
  const missing = filename.filter((name) => name !== '-' && !existsSync(name));
  if (missing.length > 0) return refuse(missing.map((name) => `${name} does not exist`));
  const wanted = outputVersion === '' ? undefined : parseGroupVersion(outputVersion);
  const texts: string[] = [];
  const errors: string[] = [];
  for (const { name, text } of filename.flatMap(readManifestFiles)) {
    const converted = convertText(text, wanted);
    if (converted.ok) texts.push(converted.text);
    else errors.push(...converted.errors.map((error) => `${name}:${error}`));
  }
  for (const error of errors) process.stderr.write(`${error}\n`);
  if (errors.length > 0) return EXIT.failure;
  process.stdout.write(joined(texts));
  return EXIT.ok;
}

/** One stream: a separator between files that have none of their own. */
function joined(texts: readonly string[]): string {
  return texts.map((text, index) => (index === 0 || text.startsWith('---') ? text : `---\n${text}`)).join('');
}

function refuse(errors: readonly string[]): number {
  for (const error of errors) process.stderr.write(`${PROGRAM}: ${error}\n`);
  process.stderr.write(`Run ${PROGRAM} --help for help.\n`);
  return EXIT.usage;
}

process.exitCode = main(process.argv.slice(2));
