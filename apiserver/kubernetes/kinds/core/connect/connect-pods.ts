import { RESOURCE } from '../../../../../shared/api/resource-names';
import type { Pod } from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { forbiddenField, invalid, invalidObject } from '../../../../../shared/errors/field-error';
import { badRequest } from '../../../../../shared/errors/status-error';
import type {
  ConnectionReader,
  ConnectionRequest,
  Destination,
} from '../../../../engine/registry/connection';
import { connectionTo } from '../../../../engine/registry/connection';
import type { ExecOptions, LogOptions, PortForwardOptions, StreamOptions } from './connect-options';
import { execOptionsIn, logOptionsIn, portForwardOptionsIn, streamOptionsIn } from './connect-options';
import { agentOf } from './node-agent';

export const execInPod = connectionTo<ExecOptions>({
  carries: 'upgrades',
  optionsIn: execOptionsIn,
  locate: async (reader, request) => {
    const commands = (request.options.command ?? []).map((each): [string, string] => ['command', each]);
    return streamsOf(reader, request, {
      path: 'exec',
      query: [...streamQuery(request.options), ...commands],
    });
  },
});

export const attachToPod = connectionTo<StreamOptions>({
  carries: 'upgrades',
  optionsIn: streamOptionsIn,
  locate: async (reader, request) =>
    streamsOf(reader, request, { path: 'attach', query: streamQuery(request.options) }),
});

export const forwardToPod = connectionTo<PortForwardOptions>({
  carries: 'upgrades',
  optionsIn: portForwardOptionsIn,
  locate: async (reader, { namespace, name, options: { ports = [] } }) => {
    const pod = await reader.read<Pod>(RESOURCE.pods, name, namespace);
    const agent = await agentOf(reader, nodeOf(pod, name));
    const query = ports.length === 0 ? '' : encoded([['port', ports.join(',')]]);
    return { ...agent, path: `/portForward/${namespace}/${name}`, query };
  },
});

export const logOfPod = connectionTo<LogOptions>({
  carries: 'text',
  optionsIn: logOptionsIn,
  locate: async (reader, { namespace, name, options }) => {
    const errors = logOptionProblems(options);
    if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, name, errors);
    const pod = await reader.read<Pod>(RESOURCE.pods, name, namespace);
    const container = containerOf(pod, name, options.container);
    const { nodeName = '' } = pod.spec;
    if (nodeName === '') return undefined;
    const agent = await agentOf(reader, nodeName);
    return {
      ...agent,
      path: `/containerLogs/${namespace}/${name}/${container}`,
      query: encoded(logQuery(options)),
      peer: options.insecureSkipTLSVerifyBackend ? 'unverified agent' : 'agent',
    };
  },
});

async function streamsOf(
  reader: ConnectionReader,
  { namespace, name, options }: ConnectionRequest<StreamOptions>,
  asked: { readonly path: string; readonly query: readonly (readonly [string, string])[] },
): Promise<Destination> {
  const pod = await reader.read<Pod>(RESOURCE.pods, name, namespace);
  const container = containerOf(pod, name, options.container ?? '');
  const agent = await agentOf(reader, nodeOf(pod, name));
  return { ...agent, path: `/${asked.path}/${namespace}/${name}/${container}`, query: encoded(asked.query) };
}

function nodeOf({ spec: { nodeName = '' } }: Pod, name: string): string {
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`);
  return nodeName;
}

/** The requested container, or the only one. */
function containerOf({ spec }: Pod, name: string, wanted: string): string {
  const { initContainers = [], ephemeralContainers = [] } = spec;
  const containers = spec.containers ?? [];
  if (wanted !== '') {
    const all = [...initContainers, ...containers, ...ephemeralContainers];
    if (all.some((each) => each.name === wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  const [only, another] = containers;
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${name}`);
  if (another === undefined) return only.name;
  const names = containers.map((each) => each.name).join(' ');
  const initNames = initContainers.map((each) => each.name).join(' ');
  const orInit = initNames === '' ? '' : ` or one of the init containers: [${initNames}]`;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names}]${orInit}`);
}

/** The names by which agents know the streams. */
const STREAM_PARAMETERS = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
] as const;

function streamQuery(options: StreamOptions): readonly (readonly [string, string])[] {
  return STREAM_PARAMETERS.filter(([field]) => options[field] === true).map(([, name]) => [name, '1']);
}

function logQuery(options: LogOptions): readonly (readonly [string, string])[] {
  const { sinceSeconds, sinceTime, tailLines, limitBytes } = options;
  const flags = (['follow', 'previous', 'timestamps'] as const)
    .filter((name) => options[name])
    .map((name): [string, string] => [name, 'true']);
  const values = Object.entries({ sinceSeconds, sinceTime, tailLines, limitBytes }).flatMap(
    ([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]),
  );
  return [...flags, ...values];
}

/** In the order of the names, as upstream writes queries. */
function encoded(query: readonly (readonly [string, string])[]): string {
  const sorted = query.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return new URLSearchParams(sorted.map(([name, value]): [string, string] => [name, value])).toString();
}

const POSITIVE = 'must be greater than 0';

function logOptionProblems({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalid('limitBytes', limitBytes, POSITIVE));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    // Upstream's path of an empty name reads so.
    errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid('sinceSeconds', sinceSeconds, POSITIVE));
  }
  return errors;
}
