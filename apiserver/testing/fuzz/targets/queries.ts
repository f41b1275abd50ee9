import type { LabelRequirement } from '../../../../shared/meta/label-requirement';
import { exactField, matchesFields, parseFieldSelector } from '../../../../shared/meta/fields';
import {
  exactLabels,
  formatLabelSelector,
  matchesLabels,
  parseLabelSelector,
} from '../../../../shared/meta/labels';
import { SelectorError } from '../../../../shared/meta/selector-error';
import { StatusError } from '../../../../shared/errors/status-error';
import { deepEqual } from '../../../../shared/object/clone';
import { parseAccept, parseMediaType } from '../../../engine/encoding/media-type';
import { DOCUMENT_OFFER, negotiate, OUTCOME_OFFER } from '../../../engine/encoding/negotiation';
import { parseRequestInfo } from '../../../engine/request/request-info';
import { decodeContinueToken, encodeContinueToken } from '../../../engine/registry/continue-token';
import { listQueryOf } from '../../../engine/handlers/query';
import { selectorsOf } from '../../../engine/handlers/selection';
import { mutateBytes } from '../mutators/mutate-bytes';
import { mutateInside } from '../mutators/mutate-json';
import { holds, refusable, refusableLater } from '../refusable';
import type { Target } from '../target';

const VERBS: ReadonlySet<string> = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'proxy',
]);

/** What stands in the URL and in headers. */
export const QUERY_TARGETS: readonly Target[] = [
  {
    name: 'label-selector',
    corpus: 'label-selector',
    words: [
      ' in ',
      ' notin ',
      '(',
      ')',
      ',',
      '!',
      '==',
      '!=',
      '=',
      '>',
      '<',
      'a',
      'app',
      'a.example/b',
      '5',
      '-9223372036854775808',
      '\t',
    ],
    mutators: [mutateBytes],
    runs: 3_000,
    open: () => ({ check: checkLabelSelector }),
  },
  {
    name: 'field-selector',
    corpus: 'field-selector',
    words: ['metadata.name', 'metadata.namespace', '=', '==', '!=', ',', '\\', '\\,', '\\=', 'status.phase'],
    mutators: [mutateBytes],
    runs: 3_000,
    open: () => ({ check: checkFieldSelector }),
  },
  {
    name: 'continue-token',
    corpus: 'continue-token',
    words: ['..', '/', '\\u0000', '-1', '0', 'rv', 'start', 'v'],
    mutators: [
      mutateBytes,
      mutateInside((input) => ({
        json: Buffer.from(input.toString('latin1'), 'base64url'),
        write: (json) => Buffer.from(json.toString('base64url')),
      })),
    ],
    runs: 2_000,
    open: () => ({ check: checkContinueToken }),
  },
  {
    name: 'request-info',
    corpus: 'request-info',
    words: [
      '/',
      '//',
      '%2f',
      '%2e%2e',
      '%00',
      '%c0%af',
      '%',
      '..',
      'namespaces',
      'watch',
      'proxy',
      'api',
      'apis',
      'v1',
      '?',
      '&',
      'watch=1',
      'fieldSelector=metadata.name%3D',
      'status',
      'finalize',
    ],
    mutators: [mutateBytes],
    runs: 2_500,
    open: () => ({ check: checkRequestInfo }),
  },
  {
    name: 'accept',
    corpus: 'accept',
    words: [
      'application/json',
      'application/yaml',
      '*/*',
      ';q=0',
      ';q=1',
      ';q=nan',
      ';as=Table',
      ';v=v1',
      ';g=meta.k8s.io',
      ';stream=watch',
      ';pretty=1',
      '"',
      '\\',
      ',',
      ';',
      '=',
    ],
    mutators: [mutateBytes],
    runs: 2_500,
    open: () => ({ check: checkAccept }),
  },
];

/** Labels of a few objects, on which two ways of matching are compared. */
const LABEL_SETS: readonly Readonly<Record<string, string>>[] = [
  {},
  { a: '' },
  { a: 'b' },
  { app: 'web', tier: 'x' },
  { a: '5' },
  { a: '-7', b: '9223372036854775807' },
  { constructor: 'x', 'a.example/b': 'c' },
];

function checkLabelSelector(input: Buffer): void {
  const text = input.toString('utf8');
  const selector = refusable(() => parseLabelSelector(text), SelectorError)?.value;
  if (selector === undefined) return;
  const again = parseLabelSelector(formatLabelSelector(selector));
  holds(
    deepEqual(plain(again), plain(selector)),
    'a selector is the same after it was written and read',
    text,
    formatLabelSelector(selector),
  );
  for (const labels of LABEL_SETS) {
    const expected = selector.every((requirement) => holdsPlainly(requirement, labels));
    holds(
      matchesLabels(selector, labels) === expected,
      'a selector selects what its requirements say',
      text,
      labels,
    );
    // What the index is asked for must be so in everything that is selected.
    if (expected)
      for (const [key, value] of exactLabels(selector))
        holds(labels[key] === value, 'the index loses nothing', text, labels);
  }
}

function plain(selector: readonly LabelRequirement[]): unknown {
  return selector.map(({ key, operator, values }) => [key, operator, [...values]]);
}

/** The table of the API's documentation, word for word. */
function holdsPlainly(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = new Map(Object.entries(labels)).get(key);
  const integer = (text = ''): bigint | undefined => {
    if (!/^[+-]?\d+$/.test(text)) return undefined;
    const number = BigInt(text.replace('+', ''));
    return BigInt.asIntN(64, number) === number ? number : undefined;
  };
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '=':
    case '==':
    case 'in':
      return value !== undefined && [...values].includes(value);
    case '!=':
    case 'notin':
      return value === undefined || ![...values].includes(value);
    case 'gt':
    case 'lt': {
      const [left, right] = [integer(value), integer([...values][0])];
      return left !== undefined && right !== undefined && (operator === 'gt' ? left > right : left < right);
    }
    default:
      return operator satisfies never;
  }
}

const FIELD_SETS = [
  new Map<string, string>(),
  new Map([['metadata.name', 'a']]),
  new Map([
    ['status.phase', 'Running'],
    ['a', 'x,y'],
  ]),
];

function checkFieldSelector(input: Buffer): void {
  const text = input.toString('utf8');
  const selector = refusable(() => parseFieldSelector(text), SelectorError)?.value;
  if (selector === undefined) return;
  const written = selector
    .map(({ field, operator, value }) => `${field}${operator}${value.replaceAll(/[\\,=]/g, '\\$&')}`)
    .join(',');
  const again = refusable(() => parseFieldSelector(written), SelectorError)?.value;
  const hasOddField = selector.some(
    ({ field, operator, value }) => /[\\,]|!$/.test(field) || (operator === '=' && value.startsWith('=')),
  );
  if (!hasOddField)
    holds(
      deepEqual(sortedTerms(again ?? []), sortedTerms(selector)),
      'a selector is the same after it was written and read',
      text,
      written,
    );
  for (const fields of FIELD_SETS) {
    const expected = selector.every(({ field, operator, value }) => {
      const found = fields.get(field) ?? '';
      return operator === '=' ? found === value : found !== value;
    });
    holds(matchesFields(selector, fields) === expected, 'a selector selects what its terms say', text);
    const name = exactField(selector, 'metadata.name');
    if (expected && name !== undefined)
      holds(
        (fields.get('metadata.name') ?? '') === name,
        'the one name that can match is the one that does',
        text,
      );
  }
}

function sortedTerms(terms: readonly object[]): unknown {
  return terms.map((each) => JSON.stringify(each)).sort();
}

function checkContinueToken(input: Buffer): void {
  const text = input.toString('utf8');
  const token = refusable(() => decodeContinueToken(text), StatusError)?.value;
  if (token === undefined) return;
  holds(
    !token.after.split('/').some((part) => part === '' || part === '.' || part === '..'),
    'a token stays in its place',
    text,
    token,
  );
  holds(token.revision === undefined || token.revision > 0, 'a revision is positive', token);
  holds(
    deepEqual(decodeContinueToken(encodeContinueToken(token)), token),
    'a token is the same after it was written and read',
    token,
  );
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW'];

/** The input is a URL without its host; its first byte chooses the method. */
async function checkRequestInfo(input: Buffer): Promise<void> {
  const url = input.toString('utf8');
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  await refusableLater(async () => selectorsOf(query), StatusError);
  refusable(() => listQueryOf(query), StatusError);
  const method = METHODS[(input[0] ?? 0) % METHODS.length] ?? 'GET';
  const info = refusable(() => parseRequestInfo(method, path, query), URIError)?.value;
  if (info === undefined) return;
  holds(info.path === path, 'the path is kept as it came', path);
  if (!info.isResourceRequest) {
    holds(
      info.resource === '' && info.namespace === '' && info.name === '',
      'what is no resource names none',
      path,
      info,
    );
    return;
  }
  // As in the Go server, a slash that is written as %2F separates like any other.
  const segments = decodeURIComponent(path).replace(/^\/+/, '').split('/');
  const where = `${method} ${path}`;
  holds(segments[0] === 'api' || segments[0] === 'apis', 'a resource is below /api or /apis', where);
  holds(
    info.apiGroup === (segments[0] === 'api' ? '' : segments[1]),
    'the group is that of the path',
    where,
    info,
  );
  for (const part of [info.resource, info.subresource, info.namespace]) {
    holds(part === '' || segments.includes(part), 'what is asked for stands in the path', where, info);
  }
  holds(info.verb === '' || VERBS.has(info.verb), 'the verb is one of those that rules name', where, info);
}

function checkAccept(input: Buffer): void {
  const accept = input.toString('latin1');
  const ranges = parseAccept(accept);
  holds(ranges.length <= accept.split(',').length, 'there are no more ranges than elements', accept, ranges);
  for (const [index, range] of ranges.entries()) {
    holds(Number.isFinite(range.quality), 'a quality is a number', accept, range);
    holds(
      index === 0 || (ranges[index - 1]?.quality ?? 0) >= range.quality,
      'the best comes first',
      accept,
      ranges,
    );
  }
  parseMediaType(accept);
  for (const offer of [DOCUMENT_OFFER, OUTCOME_OFFER, { ...OUTCOME_OFFER, stream: true }]) {
    const chosen = refusable(
      () => negotiate({ headers: { accept }, query: new URLSearchParams() }, offer),
      StatusError,
    )?.value;
    if (chosen === undefined) continue;
    holds(
      offer.formats.includes(chosen.format) || chosen.shape !== undefined,
      'what is chosen is offered',
      accept,
      chosen,
    );
  }
}
