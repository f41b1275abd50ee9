import { SelectorError } from './selector-error';

/** One condition on one field. A field the object lacks reads as empty. */
export interface FieldTerm {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** All terms must hold; none means everything. */
export type FieldSelector = readonly FieldTerm[];

/** The fields of one object; a Map is one. */
export interface FieldValues {
  get(field: string): string | undefined;
}

/**
 * Reads the text of a `fieldSelector` parameter: `metadata.name=a,status.phase!=Running`. `\`, `,` and `=` in values are written
 * with a backslash before them. A term without field and value asks for nothing. Which fields a resource knows is for the caller to
 * check. Throws SelectorError.
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

/** The value the field must have, for indexes; undefined where the selector does not ask for one. */
export function exactField(selector: FieldSelector, field: string): string | undefined {
  return selector.find((term) => term.operator === '=' && term.field === field)?.value;
}

/** Splits at commas; one after a backslash belongs to its value. */
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

/** The first operator splits, since fields know no escapes. */
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
      // Upstream prints the number of the character here.
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
