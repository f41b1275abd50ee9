import { SelectorError } from './selector-error';

/** One condition on one field. An absent field is empty. */
export interface FieldTerm {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** All terms must match; an empty selector matches everything. */
export type FieldSelector = readonly FieldTerm[];

/** The fields of one object, such as a Map. */
export interface FieldValues {
  get(field: string): string | undefined;
}

/**
 * Parses a `fieldSelector` parameter: `metadata.name=a,status.phase!=Running`. In values a backslash escapes
 * `\`, `,` and `=`. A term without field and value is ignored. The caller checks which fields a resource
 * supports. Throws SelectorError.
 */
export function parseFieldSelector(text: string): FieldSelector {
  return splitTerms(text)
    .sort()
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, text))
    .filter(({ field, value }) => field !== '' || value !== '');
}

export function matchesFields(selector: FieldSelector, fields: FieldValues): boolean {
  return selector.every(
    ({ field, operator, value }) => ((fields.get(field) ?? '') === value) === (operator === '='),
  );
}

/** Returns the value that the field must have, for indexes; undefined where the selector has no such term. */
export function exactField(selector: FieldSelector, field: string): string | undefined {
  return selector.find((term) => term.operator === '=' && term.field === field)?.value;
}

/** Splits at commas that no backslash escapes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') index += 1;
    else if (character === ',') {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

/** Splits at the first operator, since field names have no escapes. */
function parseTerm(term: string, selector: string): FieldTerm {
  const match = /!=|==?/.exec(term);
  if (match === null) throw new SelectorError(`invalid selector: '${selector}'; can't understand '${term}'`);
  return {
    field: term.slice(0, match.index),
    operator: match[0] === '!=' ? '!=' : '=',
    value: unescapeValue(term.slice(match.index + match[0].length)),
  };
}

function unescapeValue(text: string): string {
  let value = '';
  const characters = Array.from(text);
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === ',' || character === '=') {
      // Upstream prints the code of the character here.
      const code = String(character.codePointAt(0));
      throw new SelectorError(`invalid field selector: unescaped character in value: ${code}`);
    }
    if (character !== '\\') {
      value += character;
      continue;
    }
    index += 1;
    const escaped = characters[index] ?? '';
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
      throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    value += escaped;
  }
  return value;
}
