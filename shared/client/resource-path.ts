import { TerminalError } from '../concurrency/work-loop';
import type { GroupVersionResource } from '../object/object';

export interface ResourceTarget {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `/api/v1/namespaces/{namespace}/pods/{name}/status`, or below `/apis/{group}/{version}` outside the core group. */
export function resourcePath(resource: GroupVersionResource, target: ResourceTarget = {}): string {
  const { namespace = '', name = '', subresource = '' } = target;
  return [
    resource.group === '' ? '/api' : `/apis/${segment(resource.group)}`,
    segment(resource.version),
    ...(namespace === '' ? [] : ['namespaces', segment(namespace)]),
    segment(resource.resource),
    ...(name === '' ? [] : [segment(name)]),
    ...(subresource === '' ? [] : subresource.split('/').map(segment)),
  ].join('/');
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

/** `?a=1&b=2`, or empty. Undefined and empty values are left out. */
export function queryString(query: Readonly<Record<string, QueryValue>>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const each of typeof value === 'object' ? value : [String(value)]) search.append(key, each);
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** Encodes one path segment. Dot segments are refused because URL parsers on the way would remove them. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') {
    throw new TerminalError(`${JSON.stringify(text)} cannot be a segment of a path`);
  }
  return encodeURIComponent(text).replaceAll('%3A', ':');
}
