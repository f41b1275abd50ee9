import { GROUP } from '../../shared/names';
import { badRequest } from '../../shared/errors/status-error';
import { invalidObject, notSupported } from '../../shared/errors/field-error';
import { duplicateYamlKeys } from '../encoding/yaml-duplicates';
import type { Exchange } from '../exchange/exchange';

const MODES = ['Ignore', 'Warn', 'Strict'] as const;

/** Takes all problems of one document, each as a sentence: refuses them or passes them on as warnings. */
export type ReportProblems = (problems: readonly string[]) => void;

/** The options object in whose name a method's query is refused. */
const OPTIONS: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

/**
 * What `fieldValidation` asks to be done about unknown and repeated fields: undefined for `Ignore`, the default. `Warn` names them in
 * Warning headers, `Strict` answers BadRequest. Throws Invalid for another value.
 */
export function fieldValidationOf({ query, warnings, method }: Exchange): ReportProblems | undefined {
  const mode = query.get('fieldValidation') ?? '';
  if (mode === '' || mode === 'Ignore') return undefined;
  if (mode === 'Warn') {
    // A patch is applied again when another writer was faster, and would say the same again.
    return (problems) => warnings.push(...problems.filter((each) => !warnings.includes(each)));
  }
  if (mode === 'Strict') {
    return (problems) => {
      if (problems.length > 0) throw badRequest(`strict decoding error: ${problems.join(', ')}`);
    };
  }
  const error = notSupported('fieldValidation', mode, MODES);
  throw invalidObject({ group: GROUP.meta, kind: OPTIONS[method] ?? 'CreateOptions' }, '', [error]);
}

/** The same reporter, which also tells of keys that stand twice in one object or map of the document; that must be valid. */
export function reportingDuplicates(
  report: ReportProblems | undefined,
  bytes: Buffer,
  syntax: 'json' | 'yaml',
): ReportProblems | undefined {
  if (report === undefined) return undefined;
  const text = bytes.toString('utf8');
  const duplicates =
    syntax === 'json' ? duplicateFieldProblems(text) : duplicateYamlKeys(text).map(duplicateField);
  return (problems) => {
    report([...duplicates, ...problems]);
  };
}

export function unknownFieldProblems(paths: readonly string[]): readonly string[] {
  return paths.map((path) => `unknown field ${JSON.stringify(path)}`);
}

/** Repeated keys beyond this are not named. */
const DUPLICATES_MAX = 100;

function duplicateFieldProblems(json: string): readonly string[] {
  const problems: string[] = [];
  const open: Level[] = [];
  for (const [, token = ''] of json.matchAll(TOKEN)) {
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ keys: token === '{' ? new Set() : undefined, segment: '', index: 0 });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && top !== undefined) {
      top.segment = '';
      top.index += 1;
    } else if (top?.keys !== undefined && top.segment === '' && token.startsWith('"')) {
      top.segment = JSON.parse(token) as string;
      if (top.keys.has(top.segment) && problems.length < DUPLICATES_MAX) {
        problems.push(duplicateField(pathOf(open)));
      }
      top.keys.add(top.segment);
      // A key of no characters must not make its value the next key.
      if (top.segment === '') top.segment = '""';
    }
  }
  return problems;
}

function duplicateField(path: string): string {
  return `duplicate field ${JSON.stringify(path)}`;
}

/** Brackets, commas and strings; everything else says nothing about keys. */
const TOKEN = /([[\]{},]|"(?:[^"\\]|\\.)*")/g;

interface Level {
  /** Undefined in a list. */
  readonly keys: Set<string> | undefined;
  /** The key whose value is being read; empty before a key. */
  segment: string;
  index: number;
}

function pathOf(open: readonly Level[]): string {
  let path = '';
  for (const { keys, segment, index } of open) {
    if (keys === undefined) path += `[${String(index)}]`;
    else path += path === '' ? segment : `.${segment}`;
  }
  return path;
}
