import type { FieldError } from '../../../../shared/errors/field-error';
import { GROUP } from '../../../../shared/names';
import { ownKeyMap } from '../../../../shared/own-key-map';
import type { Endpoint } from '../resource';

/** What was found wrong with a change, by what has found it. */
export interface ChangeFaults {
  /** Of metadata, by the rules that all kinds share. */
  readonly common: readonly FieldError[];
  /** The same, with the kind's own rules of names and finalizers. */
  readonly metadata: readonly FieldError[];
  /** Of the change of metadata. */
  readonly moved: readonly FieldError[];
  /** By the rules of the kind. */
  readonly rules: readonly FieldError[];
  /** By the kind's rules of changes, or by the subresource. */
  readonly changes: readonly FieldError[];
}

/**
 * The same faults in the order in which v1.21 tells them, and as often: it asks some things of a change in several functions. To be asked only
 * once something was found. Undefined for kinds whose order is not known.
 */
export function inToldOrder(
  faults: ChangeFaults,
  { row, stored: { resource, custom } }: Endpoint,
  subresource: string,
): readonly FieldError[] | undefined {
  const own = subresource === '' ? resource : `${resource}/${subresource}`;
  const steps =
    custom === undefined
      ? (STEPS.get(row.group === GROUP.events ? `${row.group}/${row.version}/${own}` : own) ??
        STATUS_STEPS.get(subresource))
      : 'uRX';
  if (steps === undefined) return undefined;
  const told = [...faults.common, ...movedAndLabels(faults)];
  for (const step of steps) told.push(...(TOLD_BY.get(step)?.(faults) ?? []));
  return [...told, ...leftOut(faults, told)];
}

/** An order that leaves a fault out would let through what is wrong: it comes last. */
function leftOut({ metadata, rules, changes }: ChangeFaults, told: readonly FieldError[]): FieldError[] {
  const known = new Set(told);
  const others = [...rules, ...changes].filter((fault) => !known.has(fault));
  const ofMetadata = metadata.filter((fault) => !known.has(fault));
  if (ofMetadata.length === 0) return others;
  // Those that all kinds share are found twice, by two questions.
  const texts = new Set(told.filter(({ field }) => field.startsWith('metadata')).map(textOf));
  return [...ofMetadata.filter((fault) => !texts.has(textOf(fault))), ...others];
}

function textOf({ reason, field, message }: FieldError): string {
  return JSON.stringify([reason, field, message]);
}

/** Upstream looks again at these when it compares metadata. */
function movedAndLabels({ moved, common }: ChangeFaults): FieldError[] {
  return [...moved, ...lookedAtAgain(common)];
}

function lookedAtAgain(common: readonly FieldError[]): FieldError[] {
  return common.filter(({ field }) => LOOKED_AT_AGAIN.test(field));
}

const LOOKED_AT_AGAIN = /^metadata\.(?:labels|annotations|ownerReferences|managedFields)/;
const FINALIZER_NAME = /^metadata\.finalizers\[/;

const TOLD_BY = ownKeyMap<(faults: ChangeFaults) => readonly FieldError[]>({
  // The functions of the core group judge the names of finalizers, those that are shared do not.
  M: ({ metadata }) => metadata,
  m: ({ metadata }) => metadata.filter(({ field }) => !FINALIZER_NAME.test(field)),
  U: (faults) => [
    ...movedAndLabels(faults),
    ...faults.metadata.filter(({ field }) => FINALIZER_NAME.test(field)),
  ],
  u: movedAndLabels,
  l: ({ common }) => lookedAtAgain(common),
  R: ({ rules }) => rules,
  r: ({ rules }) => rules.filter(({ isOnce = false }) => !isOnce),
  X: ({ changes }) => changes,
});

/**
 * What each kind asks in which order, after what all have in common: by ValidateUpdate of its strategy (pkg/registry) and the functions that
 * it calls (pkg/apis/<group>/validation), v1.21. `M`, `m`: metadata; `U`, `u`: its change, `l`: that of one that is compared with itself; `R`: the rules; `r`: those that are asked
 * again; `X`: the change of all else.
 */
const STEPS = ownKeyMap<string>({
  apiservices: 'umRX',
  'apiservices/status': 'uX',
  certificatesigningrequests: 'MRUX',
  'certificatesigningrequests/approval': 'MUX',
  'certificatesigningrequests/status': 'MUX',
  clusterrolebindings: 'MRMRUX',
  clusterroles: 'MRMRUX',
  configmaps: 'UXMR',
  controllerrevisions: 'UMRX',
  cronjobs: 'URX',
  'cronjobs/status': 'X',
  csidrivers: 'UXR',
  csinodes: 'MMX',
  csistoragecapacities: 'MRUX',
  customresourcedefinitions: 'uRX',
  'customresourcedefinitions/status': 'uX',
  daemonsets: 'MRUXR',
  deployments: 'URX',
  endpoints: 'UMRX',
  endpointslices: 'MRX',
  events: 'RX',
  [`${GROUP.events}/v1/events`]: 'RlX',
  [`${GROUP.events}/v1beta1/events`]: 'R',
  flowschemas: 'MRX',
  horizontalpodautoscalers: 'URX',
  ingressclasses: 'UXMR',
  ingresses: 'UMRX',
  jobs: 'MRUrX',
  leases: 'uRX',
  limitranges: 'MRX',
  mutatingwebhookconfigurations: 'mRX',
  namespaces: 'MRUX',
  networkpolicies: 'MRURX',
  nodes: 'MRUX',
  persistentvolumeclaims: 'MRUMRX',
  persistentvolumes: 'MRMRX',
  poddisruptionbudgets: 'RX',
  'poddisruptionbudgets/status': 'X',
  pods: 'UMRX',
  podsecuritypolicies: 'URX',
  podtemplates: 'URX',
  priorityclasses: 'UXR',
  prioritylevelconfigurations: 'MRX',
  replicasets: 'MRURX',
  replicationcontrollers: 'MRURX',
  resourcequotas: 'URX',
  rolebindings: 'MRMRUX',
  roles: 'MRMRUX',
  runtimeclasses: 'mRuX',
  secrets: 'UXMR',
  serviceaccounts: 'UMRX',
  services: 'UXMR',
  statefulsets: 'MRUX',
  storageclasses: 'MRUX',
  storageversions: '',
  'storageversions/status': 'X',
  validatingwebhookconfigurations: 'mRX',
  volumeattachments: 'MRMRX',
  'volumeattachments/status': 'MMX',
});

/** Of the subresources of other kinds. */
const STATUS_STEPS = ownKeyMap<string>({ status: 'UX', finalize: 'UX' });
