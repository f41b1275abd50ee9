import type {
  ServiceReference,
  WebhookClientConfig,
} from '../../../../shared/api/types/admissionregistration-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { urlPartsOf } from './url-parts';
import { forEachItem, portNumberProblems } from './primitives';

/** Where a webhook is: at a URL, or a Service of the cluster. */
export function webhookClient({ url, service }: WebhookClientConfig, path: string): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  return service === undefined
    ? webhookUrl(url ?? '', `${path}.url`)
    : webhookService(service, `${path}.service`);
}

function webhookUrl(url: string, path: string): FieldError[] {
  const form = 'desired format: https://host[/path]';
  const parts = urlPartsOf(url);
  if ('problem' in parts) return [required(path, `url must be a valid URL: ${parts.problem}; ${form}`)];
  const { scheme, host, user, fragment, query } = parts;
  return [
    ...(scheme === 'https' ? [] : [invalid(path, scheme, `'https' is the only allowed URL scheme; ${form}`)]),
    ...(host === '' ? [invalid(path, host, `host must be provided; ${form}`)] : []),
    ...(user === undefined ? [] : [invalid(path, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(path, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalid(path, query, 'query parameters are not permitted in the URL')]),
  ];
}

function webhookService(service: ServiceReference, path: string): FieldError[] {
  const { path: url, port } = service;
  return [
    ...MISSING.filter(([field]) => service[field] === '').map(([, name]) =>
      required(`${path}.${name}`, `service ${name} is required`),
    ),
    ...(port === undefined ? [] : servicePort(port, `${path}.port`)),
    ...(url === undefined ? [] : servicePath(url, `${path}.path`)),
  ];
}

/** What may be missing, and which field upstream names then: it mistakes each for the other. */
const MISSING = [
  ['namespace', 'name'],
  ['name', 'namespace'],
] as const;

/** The port of a Service that somebody is to be called at. */
export function servicePort(value: unknown, path: string): FieldError[] {
  return portNumberProblems(value).map((problem) => invalid(path, value, `port is not valid: ${problem}`));
}

function servicePath(url: string, path: string): FieldError[] {
  if (url === '' || url === '/') return [];
  if (url === '//') return [invalid(path, url, 'segment[0] may not be empty')];
  const segments = url.slice(1).replace(/\/$/, '').split('/');
  return [
    ...(url.startsWith('/') ? [] : [invalid(path, url, "must start with a '/'")]),
    ...forEachItem(segments, path, (segment, _at, index) =>
      segment === ''
        ? [invalid(path, url, `segment[${String(index)}] may not be empty`)]
        : dns1123SubdomainProblems(segment).map((problem) =>
            invalid(path, url, `segment[${String(index)}]: ${problem}`),
          ),
    ),
  ];
}
