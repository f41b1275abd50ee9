import type { FunctionDeclaration } from '../check/declarations';
import { STRING, listOf, optionalOf, structOf } from '../check/types';
import { parseTimestamp } from '../eval/time';
import { ArrayList, NO_OVERLOAD, OpaqueValue, OptionalValue } from '../eval/values';
import { declare, global, method, onStrings } from './functions';
import { parseUrl } from './urls';

export const FORMAT_TYPE = structOf('kubernetes.NamedFormat');
const SINCE = 31;

interface NamedFormat {
  readonly name: string;
  /** The length of the pattern in upstream's cost of a validation. */
  readonly patternLength: number;
  /** Returns what is wrong with a text. */
  readonly validate: (text: string) => readonly string[];
}

class FormatValue extends OpaqueValue {
  readonly type = FORMAT_TYPE;
  readonly format: NamedFormat;
  override readonly patternLength: number;

  constructor(format: NamedFormat) {
    super();
    this.format = format;
    this.patternLength = format.patternLength;
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && other.format === this.format;
  }
}

const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`;
const DNS_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const LABEL_PROBLEM = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${DNS_LABEL}')`;
const SUBDOMAIN_PROBLEM = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${DNS_SUBDOMAIN}')`;
const DNS_1035_PROBLEM = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${DNS_1035}')`;
const NAME_PROBLEM = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;
const VALUE_PROBLEM = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${QUALIFIED})?')`;

interface PatternRule {
  readonly pattern: string;
  readonly lengthMax: number;
  readonly problem: string;
}

function check(text: string, { pattern, lengthMax, problem }: PatternRule): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(text) > lengthMax) problems.push(`must be no more than ${lengthMax} characters`);
  if (!new RegExp(`^(?:${pattern})$`, 'u').test(text)) problems.push(problem);
  return problems;
}

const LABEL: PatternRule = { pattern: DNS_LABEL, lengthMax: 63, problem: LABEL_PROBLEM };
const SUBDOMAIN: PatternRule = { pattern: DNS_SUBDOMAIN, lengthMax: 253, problem: SUBDOMAIN_PROBLEM };
const LABEL_1035: PatternRule = { pattern: DNS_1035, lengthMax: 63, problem: DNS_1035_PROBLEM };
const LABEL_VALUE: PatternRule = { pattern: `(?:${QUALIFIED})?`, lengthMax: 63, problem: VALUE_PROBLEM };

function byPattern(name: string, patternLength: number, rule: PatternRule): NamedFormat {
  return { name, patternLength, validate: (text) => check(text, rule) };
}

/** The same rule for the beginning of a name, which may end with a dash. */
function asPrefix(name: string, patternLength: number, rule: PatternRule): NamedFormat {
  return {
    name,
    patternLength,
    validate: (text) => check(text.length > 1 ? text.replace(/-$/u, 'a') : text, rule),
  };
}

function byTest(
  name: string,
  patternLength: number,
  [test, problem]: readonly [(text: string) => boolean, string],
): NamedFormat {
  return { name, patternLength, validate: (text) => (test(text) ? [] : [problem]) };
}

function qualifiedNameProblems(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined)
    problems.push(...check(prefix, SUBDOMAIN).map((problem) => `prefix part ${problem}`));
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push('name part must be no more than 63 characters');
  if (!new RegExp(`^(?:${QUALIFIED})$`, 'u').test(name)) problems.push(NAME_PROBLEM);
  return problems;
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/iu;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/u;
/** Lengths of the patterns of go-openapi's formats. */
const URL_PATTERN_LENGTH = 1149;
const UUID_PATTERN_LENGTH = 73;
const BASE64_PATTERN_LENGTH = 87;
const TIME_PATTERN_LENGTH = 143;

const FORMATS = new Map<string, NamedFormat>([
  ['dns1123Label', byPattern('DNS1123Label', 30, LABEL)],
  ['dns1123Subdomain', byPattern('DNS1123Subdomain', 60, SUBDOMAIN)],
  ['dns1035Label', byPattern('DNS1035Label', 30, LABEL_1035)],
  ['qualifiedName', { name: 'QualifiedName', patternLength: 60, validate: qualifiedNameProblems }],
  ['dns1123LabelPrefix', asPrefix('DNS1123LabelPrefix', 30, LABEL)],
  ['dns1123SubdomainPrefix', asPrefix('DNS1123SubdomainPrefix', 60, SUBDOMAIN)],
  ['dns1035LabelPrefix', asPrefix('DNS1035LabelPrefix', 30, LABEL_1035)],
  ['labelValue', byPattern('LabelValue', 40, LABEL_VALUE)],
  [
    'uri',
    {
      name: 'URI',
      patternLength: URL_PATTERN_LENGTH,
      validate: (text) => {
        const parsed = parseUrl(text);
        return typeof parsed === 'string' ? [parsed] : [];
      },
    },
  ],
  [
    'uuid',
    byTest('uuid', UUID_PATTERN_LENGTH, [(text) => UUID.test(text), 'does not match the UUID format']),
  ],
  ['byte', byTest('byte', BASE64_PATTERN_LENGTH, [(text) => BASE64.test(text), 'invalid base64'])],
  [
    'date',
    byTest('date', TIME_PATTERN_LENGTH, [
      (text) => parseTimestamp(`${text}T00:00:00Z`) !== undefined,
      'invalid date',
    ]),
  ],
  [
    'datetime',
    byTest('datetime', TIME_PATTERN_LENGTH, [
      (text) => text === '' || parseTimestamp(text) !== undefined,
      'invalid datetime',
    ]),
  ],
]);

const VALUES = new Map(Array.from(FORMATS, ([name, format]) => [name, new FormatValue(format)]));

/** Named formats (k8s.io/apiserver `cel/library/format.go`). */
export const FORMAT_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'validate',
    SINCE,
    method('format-validate', [FORMAT_TYPE, STRING], optionalOf(listOf(STRING)), (format, text) => {
      if (!(format instanceof FormatValue) || typeof text !== 'string') return NO_OVERLOAD;
      const problems = format.format.validate(text);
      return problems.length === 0
        ? OptionalValue.none
        : new OptionalValue(new ArrayList(Array.from(problems)));
    }),
  ),
  declare(
    'format.named',
    SINCE,
    global(
      'format-named',
      [STRING],
      optionalOf(FORMAT_TYPE),
      onStrings((name = '') => new OptionalValue(VALUES.get(name))),
    ),
  ),
  ...Array.from(VALUES, ([name, value]) =>
    declare(
      `format.${name}`,
      SINCE,
      global(`format.${name}`, [], FORMAT_TYPE, () => value),
    ),
  ),
];
