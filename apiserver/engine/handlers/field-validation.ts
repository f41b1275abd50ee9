import { GROUP } from '../../../shared/names';
import { badRequest } from '../../../shared/errors/status-error';
import { invalidObject, notSupported } from '../../../shared/errors/field-error';
import { repeatedKeys } from '../../../shared/meta/repeated-keys';
import { duplicateYamlKeys } from '../encoding/yaml-duplicates';
import type { Exchange } from '../request/exchange';
import { ownKeyMap } from '../../../shared/own-key-map';

const MODES = ['Ignore', 'Warn', 'Strict'] as const;

/** Takes all problems of one document, each as a sentence: refuses them or passes them on as warnings. */
export type ReportProblems = (problems: readonly string[]) => void;

/** The options object in whose name a method's query is refused. */
const OPTIONS = ownKeyMap<string>({
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
});

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
  throw invalidObject({ group: GROUP.meta, kind: OPTIONS.get(method) ?? 'CreateOptions' }, '', [error]);
}

/** The same reporter, which also tells of keys that stand twice in one object or map of the document; that must be valid. */
export function reportingDuplicates(
  report: ReportProblems | undefined,
  bytes: Buffer,
  syntax: 'json' | 'yaml',
): ReportProblems | undefined {
  if (report === undefined) return undefined;
  const text = bytes.toString('utf8');
  const duplicates = syntax === 'json' ? repeatedKeys(text, DUPLICATES_MAX) : duplicateYamlKeys(text);
  return (problems) => {
    report([...duplicates.map(duplicateField), ...problems]);
  };
}

export function unknownFieldProblems(paths: readonly string[]): readonly string[] {
  return paths.map((path) => `unknown field ${JSON.stringify(path)}`);
}

/** Repeated keys beyond this are not named. */
const DUPLICATES_MAX = 100;

function duplicateField(path: string): string {
  return `duplicate field ${JSON.stringify(path)}`;
}
