import { GROUP } from '../../shared/names';
import { badRequest } from '../../shared/errors/status-error';
import { invalidObject, notSupported } from '../../shared/errors/field-error';
import type { Exchange } from '../exchange/exchange';

const MODES = ['Ignore', 'Warn', 'Strict'] as const;

/** Takes the problems of one document, each as a sentence: refuses them or passes them on as warnings. */
export type ReportProblems = (problems: readonly string[]) => void;

/**
 * What `fieldValidation` asks to be done about unknown and repeated fields: undefined for `Ignore`, the default. `Warn` names them in
 * Warning headers, `Strict` answers BadRequest. Throws Invalid for another value.
 */
export function fieldValidationOf({ query, warnings }: Exchange): ReportProblems | undefined {
  const mode = query.get('fieldValidation') ?? '';
  if (mode === '' || mode === 'Ignore') return undefined;
  if (mode === 'Warn') return (problems) => warnings.push(...problems);
  if (mode === 'Strict') {
    return (problems) => {
      if (problems.length > 0) throw badRequest(`strict decoding error: ${problems.join(', ')}`);
    };
  }
  const error = notSupported('fieldValidation', mode, MODES);
  throw invalidObject({ group: GROUP.meta, kind: 'RequestOptions' }, '', [error]);
}

export function unknownFieldProblems(paths: readonly string[]): readonly string[] {
  return paths.map((path) => `unknown field ${JSON.stringify(path)}`);
}

/** Repeated keys beyond this are not named. */
const DUPLICATES_MAX = 100;

/** A sentence for every key that stands twice in one object of a JSON document, which must be valid. */
export function duplicateFieldProblems(json: string): readonly string[] {
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
        problems.push(`duplicate field ${JSON.stringify(pathOf(open))}`);
      }
      top.keys.add(top.segment);
      // A key of no characters must not make its value the next key.
      if (top.segment === '') top.segment = '""';
    }
  }
  return problems;
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
