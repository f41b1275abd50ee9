import { defined } from '../../../shared/defined';
/** The written resources, and the views of the informers. */
export interface WrittenResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** Admission adds fields to a pod, and most are immutable, so that a pod is read before it is updated. */
  readonly isReplaceable?: false;
  /** The object without metadata; `turn` makes it differ from the last one. */
  readonly content: (turn: string) => Readonly<Record<string, unknown>>;
}

const CONFIG_MAPS: WrittenResource = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  isNamespaced: true,
  content: (turn) => ({ data: { turn, text: 'x'.repeat(Number(turn) % 700) } }),
};

const SECRETS: WrittenResource = {
  group: '',
  version: 'v1',
  resource: 'secrets',
  kind: 'Secret',
  isNamespaced: true,
  content: (turn) => ({ type: 'Opaque', data: { turn: Buffer.from(turn).toString('base64') } }),
};

const PODS: WrittenResource = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  isNamespaced: true,
  isReplaceable: false,
  content: () => ({ spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] } }),
};

const NODES: WrittenResource = {
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  isNamespaced: false,
  content: () => ({ spec: {} }),
};

const DEPLOYMENTS: WrittenResource = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  isNamespaced: true,
  content: (turn) => ({
    spec: {
      replicas: Number(turn) % 100,
      selector: { matchLabels: { app: 'app' } },
      template: {
        metadata: { labels: { app: 'app' } },
        spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
      },
    },
  }),
};

export const RESOURCES: readonly WrittenResource[] = [CONFIG_MAPS, SECRETS, PODS, NODES, DEPLOYMENTS];
export const NAMESPACES: readonly string[] = ['chaos-0', 'chaos-1', 'chaos-2'];
/** Every write chooses one of these, so that objects enter and leave the selection. */
export const HALVES: readonly string[] = ['left', 'right'];

/** The collection and selectors of one informer. */
export interface View {
  readonly id: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly half?: string;
}

export const VIEWS: readonly View[] = [
  viewOf(CONFIG_MAPS, {}),
  viewOf(CONFIG_MAPS, { half: 'left' }),
  viewOf(SECRETS, { namespace: 'chaos-1' }),
  viewOf(PODS, {}),
  viewOf(NODES, { half: 'right' }),
  viewOf(DEPLOYMENTS, { namespace: 'chaos-0', half: 'left' }),
];

/** The path of a collection in the API, and, with a name, of one of its objects. */
export function pathOf(
  { group, version, resource }: Pick<View, 'group' | 'version' | 'resource'>,
  namespace: string | undefined,
  name?: string,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${root}${scope}/${resource}${name === undefined ? '' : `/${name}`}`;
}

export function labelSelectorOf({ half }: View): string | undefined {
  return half === undefined ? undefined : `half=${half}`;
}

function viewOf(
  { group, version, resource }: WrittenResource,
  { namespace, half }: Pick<View, 'namespace' | 'half'>,
): View {
  const id = [resource, ...(namespace === undefined ? [] : [`in ${namespace}`]), half ?? ''].join(' ').trim();
  return {
    id,
    group,
    version,
    resource,
    ...defined({ namespace, half }),
  };
}
