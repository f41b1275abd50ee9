/**
 * Validates names. Each function returns the problems with the messages of Kubernetes v1.21
 * (apimachinery/pkg/util/validation); the list is empty for a valid name. Lengths count UTF-8 bytes.
 */

interface Form {
  readonly what: string;
  readonly pattern: string;
  readonly examples: readonly string[];
  readonly bytesMax: number;
}

const LABEL_PATTERN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const DNS_1123_LABEL: Form = {
  what: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  pattern: LABEL_PATTERN,
  examples: ['my-name', '123-abc'],
  bytesMax: 63,
};
const DNS_1123_SUBDOMAIN: Form = {
  what: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  pattern: `${LABEL_PATTERN}(\\.${LABEL_PATTERN})*`,
  examples: ['example.com'],
  bytesMax: 253,
};
const WILDCARD_SUBDOMAIN: Form = {
  what: "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  pattern: `\\*\\.${DNS_1123_SUBDOMAIN.pattern}`,
  examples: ['*.example.com'],
  bytesMax: 253,
};
const DNS_1035_LABEL: Form = {
  what: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  pattern: '[a-z]([-a-z0-9]*[a-z0-9])?',
  examples: ['my-name', 'abc-123'],
  bytesMax: 63,
};
const LABEL_VALUE: Form = {
  what: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  pattern: `(${QUALIFIED_NAME_PATTERN})?`,
  examples: ['MyValue', 'my_value', '12345'],
  bytesMax: 63,
};
const QUALIFIED_NAME: Form = {
  what: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  pattern: QUALIFIED_NAME_PATTERN,
  examples: ['MyName', 'my.name', '123-abc'],
  bytesMax: 63,
};

/** `my-name`: one part of a host name, at most 63 bytes. */
export const dns1123LabelProblems = checkerOf(DNS_1123_LABEL);

/** `example.com`: labels joined by dots, at most 253 bytes together. */
export const dns1123SubdomainProblems = checkerOf(DNS_1123_SUBDOMAIN);

/** `*.example.com`: all direct subdomains of a domain. */
export const wildcardSubdomainProblems = checkerOf(WILDCARD_SUBDOMAIN);

/** `my-name`: like a DNS-1123 label that begins with a letter. */
export const dns1035LabelProblems = checkerOf(DNS_1035_LABEL);

/** The value of a label: empty, or at most 63 bytes of letters, digits, `-`, `_` and `.`. */
export const labelValueProblems = checkerOf(LABEL_VALUE);

const qualifiedNamePattern = wholeOf(QUALIFIED_NAME);
const subdomainPattern = wholeOf(DNS_1123_SUBDOMAIN);

/** `name` or `prefix.example.com/name`: the key of a label, an annotation or a finalizer. */
export function qualifiedNameProblems(value: string): string[] {
  if (isQualifiedName(value)) return [];
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a qualified name ${describe(QUALIFIED_NAME)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const problems = parts.length === 2 ? prefixProblems(parts[0] ?? '') : [];
  if (name === '') problems.push('name part must be non-empty');
  else if (isLonger(name, QUALIFIED_NAME.bytesMax)) {
    problems.push(`name part ${maxLengthProblem(QUALIFIED_NAME.bytesMax)}`);
  }
  if (!qualifiedNamePattern.test(name)) problems.push(`name part ${describe(QUALIFIED_NAME)}`);
  return problems;
}

/** A valid name is ASCII, so its length in characters is that in bytes. */
function isQualifiedName(value: string): boolean {
  const slash = value.indexOf('/');
  const name = slash === -1 ? value : value.slice(slash + 1);
  if (name.length > QUALIFIED_NAME.bytesMax || !qualifiedNamePattern.test(name)) return false;
  return (
    slash === -1 || (slash <= DNS_1123_SUBDOMAIN.bytesMax && subdomainPattern.test(value.slice(0, slash)))
  );
}

const PATH_SEGMENT_NOT: readonly string[] = ['.', '..'];
const PATH_SEGMENT_WITHOUT: readonly string[] = ['/', '%'];

/** Validates a name that can be one segment of a URL path. */
export function pathSegmentProblems(value: string): string[] {
  return PATH_SEGMENT_NOT.includes(value) ? [`may not be '${value}'`] : pathSegmentPrefixProblems(value);
}

/** Validates a prefix of such a name: `.` and `..` are valid, because more follows. */
export function pathSegmentPrefixProblems(value: string): string[] {
  return PATH_SEGMENT_WITHOUT.filter((part) => value.includes(part)).map(
    (part) => `may not contain '${part}'`,
  );
}

export function maxLengthProblem(bytesMax: number): string {
  return `must be no more than ${String(bytesMax)} characters`;
}

export function isLonger(value: string, bytesMax: number): boolean {
  return value.length > bytesMax || Buffer.byteLength(value) > bytesMax;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return dns1123SubdomainProblems(prefix).map((problem) => `prefix part ${problem}`);
}

function checkerOf(form: Form): (value: string) => string[] {
  const pattern = wholeOf(form);
  return (value) => {
    // The pattern matches ASCII only, so the length in characters is that in bytes.
    if (value.length <= form.bytesMax && pattern.test(value)) return [];
    const problems: string[] = [];
    if (isLonger(value, form.bytesMax)) problems.push(maxLengthProblem(form.bytesMax));
    if (!pattern.test(value)) problems.push(describe(form));
    return problems;
  };
}

function wholeOf(form: Form): RegExp {
  return new RegExp(`^${form.pattern}$`);
}

/** The two spaces before `or` are upstream's; clients match these messages. */
function describe({ what, pattern, examples }: Form): string {
  const list = examples.map((example) => `'${example}', `).join(' or ');
  return `${what} (e.g. ${list}regex used for validation is '${pattern}')`;
}
