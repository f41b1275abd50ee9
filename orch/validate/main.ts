#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { startControlPlane } from '../../package/testing';
import { API_LEVELS } from '../../shared/api-level';
import { readManifestFiles } from '../../shared/files/manifest-files';
import type { FlagRow, FlagValues } from '../../shared/flags/flag-row';
import { writeHelp } from '../../shared/flags/help';
import { parseFlags } from '../../shared/flags/parse-flags';
import { parseVersionFlag } from '../../shared/flags/version-flag';
import { DIALECTS } from '../../shared/names';
import { PLUGINS_OFF, validateManifests } from './validate';
import type { Finding, Validation } from './validate';

const PROGRAM = 'orch-validate';
const SUMMARY =
  'Validates manifests as a server would, without one: built-in kinds, and custom resources by the schemas and CEL rules of their definitions. Exits with 0 if all are valid, with 1 if not, and with 2 for wrong flags.';
const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** The most characters of all files. */
const CHARACTERS_MAX = 64 * 1_024 * 1_024;

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
    name: 'crds',
    type: 'stringList',
    default: [],
    group: 'Input',
    help: 'Files and folders with CustomResourceDefinitions, besides those in the manifests.',
  },
  {
    name: 'old',
    type: 'stringList',
    default: [],
    group: 'Input',
    help: 'Files and folders with the objects that exist. Manifests of the same names are validated as changes of them, with transition rules.',
  },
  {
    name: 'output',
    short: 'o',
    type: 'enum',
    values: ['text', 'json'],
    default: 'text',
    group: 'Output',
    help: 'The form of the findings: a line for each, or one JSON object with all of them.',
  },
  {
    name: 'dialect',
    type: 'enum',
    values: DIALECTS,
    default: 'kubernetes',
    group: 'Input',
    help: 'The dialect of the names in the manifests.',
  },
  {
    name: 'api-level',
    type: 'enum',
    values: ['', ...API_LEVELS],
    default: '',
    group: 'Input',
    help: 'The Kubernetes release whose rules apply; that of the dialect if empty.',
  },
] as const satisfies readonly FlagRow[];

async function main(words: readonly string[]): Promise<number> {
  const version = parseVersionFlag(PROGRAM, words);
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return EXIT.ok;
  }
  const parsed = parseFlags(FLAGS, version.argv);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, FLAGS, { program: PROGRAM, summary: SUMMARY });
    return EXIT.ok;
  }
  if (parsed.outcome === 'errors') return refuse(parsed.errors);
  const { filename, crds, old, output } = parsed.values;
  if (filename.length === 0) return refuse(['-f is required']);
  const missing = [...filename, ...crds, ...old].filter((name) => name !== '-' && !existsSync(name));
  if (missing.length > 0) return refuse(missing.map((name) => `${name} does not exist`));
  const validation = await validate(parsed.values);
  if (typeof validation === 'string') return refuse([validation]);
  const { findings } = validation;
  process.stdout.write(
    output === 'json' ? `${JSON.stringify(validation, null, 2)}\n` : findings.map(lineOf).join(''),
  );
  return findings.some(({ severity }) => severity === 'error') ? EXIT.failure : EXIT.ok;
}

/** Validates what the flags name, or returns why that is too much. */
async function validate({
  filename,
  crds,
  old,
  dialect,
  apiLevel,
}: FlagValues<typeof FLAGS>): Promise<Validation | string> {
  const [manifests = [], definitions = [], before = []] = [filename, crds, old].map((names) =>
    names.flatMap(readManifestFiles),
  );
  const characters = [...manifests, ...definitions, ...before].reduce(
    (sum, { text }) => sum + text.length,
    0,
  );
  if (characters > CHARACTERS_MAX) return `the files have more than ${String(CHARACTERS_MAX)} characters`;
  const plane = await startControlPlane({
    controllers: false,
    listen: false,
    dialect,
    ...(apiLevel === '' ? {} : { apiLevel }),
    flags: { 'disable-admission-plugins': PLUGINS_OFF },
  });
  try {
    return await validateManifests(plane, { manifests, definitions, old: before });
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  } finally {
    await plane.stop();
  }
}

function lineOf({ file, line, severity, kind, name = '', field, message }: Finding): string {
  const object = kind === undefined ? '' : `${kind}${name === '' ? '' : `/${name}`}: `;
  const text = `${field === undefined ? '' : `${field}: `}${message}`.replaceAll('\n', ' ');
  return `${file}:${String(line)}: ${severity}: ${object}${text}\n`;
}

function refuse(errors: readonly string[]): number {
  for (const error of errors) process.stderr.write(`${PROGRAM}: ${error}\n`);
  process.stderr.write(`Run ${PROGRAM} --help for help.\n`);
  return EXIT.usage;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${PROGRAM}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.usage;
  },
);
