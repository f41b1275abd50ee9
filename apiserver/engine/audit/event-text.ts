import { formatMicroTime } from '../../../shared/meta/time';
import type { AuditEvent, AuditVersion, EventFields, ObjectReference, ResponseStatus } from './event';

/** Formats the fields of an event as JSON in the order of the Go type, from `"level":` to the closing brace. */
export function eventText(fields: EventFields, version: AuditVersion): string {
  const { level, auditId, stage, requestJson, objectRef, responseStatus } = fields;
  const id = JSON.stringify(auditId);
  let text = `"level":"${level}","auditID":${id},"stage":"${stage}",${requestJson.slice(1, -1)}`;
  if (objectRef !== undefined) text += `,"objectRef":{${referenceText(objectRef, version)}}`;
  if (responseStatus !== undefined) text += `,"responseStatus":${statusText(responseStatus)}`;
  if (fields.requestObject !== undefined) text += `,"requestObject":${fields.requestObject.toString()}`;
  if (fields.responseObject !== undefined) text += `,"responseObject":${fields.responseObject.toString()}`;
  return text + tailText(fields);
}

function tailText({ receivedAtMs, stageAtMs, annotations }: EventFields): string {
  const received = formatMicroTime(receivedAtMs);
  const stage = stageAtMs === receivedAtMs ? received : formatMicroTime(stageAtMs);
  const noted = annotations === undefined ? '' : `,"annotations":${JSON.stringify(annotations)}`;
  return `,"requestReceivedTimestamp":"${received}","stageTimestamp":"${stage}"${noted}}`;
}

const REFERENCE_FIELDS = [
  'resource',
  'namespace',
  'name',
  'uid',
  'apiGroup',
  'apiVersion',
  'resourceVersion',
  'subresource',
] as const satisfies readonly (keyof ObjectReference)[];

/** v1alpha1 has no separate group. */
function referenceText(reference: ObjectReference, version: AuditVersion): string {
  const { apiGroup, apiVersion } = reference;
  const isJoined = version === 'v1alpha1' && apiGroup !== '';
  const shown = isJoined
    ? { ...reference, apiGroup: '', apiVersion: `${apiGroup}/${apiVersion}` }
    : reference;
  let text = '';
  for (const name of REFERENCE_FIELDS) {
    const value = shown[name];
    if (value !== '') text += `${text === '' ? '' : ','}"${name}":${JSON.stringify(value)}`;
  }
  return text;
}

/** A Status always has metadata, possibly empty. */
function statusText({ status, message, reason, code }: ResponseStatus): string {
  if (status === undefined) return `{"metadata":{},"code":${String(code)}}`;
  return JSON.stringify({ metadata: {}, status, message, reason, code });
}

/** Formats an event as one line of the format `legacy`. */
export function eventLine({ fields }: AuditEvent): string {
  const { request, auditId, stage, objectRef, responseStatus, receivedAtMs } = fields;
  const { username = '', groups = [] } = request.user;
  const isKnown = username !== '';
  const { impersonatedUser: impersonated } = request;
  const parts = [
    ['id', auditId],
    ['stage', stage],
    ['ip', request.sourceIPs?.[0] ?? '<unknown>'],
    ['method', request.verb],
    ['user', isKnown ? username : '<none>'],
    ['groups', isKnown && groups.length > 0 ? groups.map(quoted).join(',') : '<none>'],
    ['as', impersonated === undefined ? '<self>' : (impersonated.username ?? '')],
    ['asgroups', impersonated === undefined ? '<lookup>' : (impersonated.groups ?? []).map(quoted).join(',')],
    ['user-agent', request.userAgent ?? ''],
    ['namespace', objectRef === undefined || objectRef.namespace === '' ? '<none>' : objectRef.namespace],
    ['uri', request.requestURI],
    ['response', responseStatus === undefined ? '<deferred>' : String(responseStatus.code)],
  ] as const;
  const text = parts.map(([name, value]) => `${name}=${quoted(value)}`).join(' ');
  return `${formatMicroTime(receivedAtMs)} AUDIT: ${text}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
