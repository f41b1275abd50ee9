import type { RowOf } from '../columns/cells';
import { containerCells, countOf, labelsText } from '../columns/format';
import { ageOf, at, listAt, mapAt, nameOf, numberAt, scalarOr, textAt } from '../columns/read';
import { endpointsRow, serviceRow } from './services-columns';
import { eventRow } from './events-columns';
import { nodeRow } from './nodes-columns';
import { podRow } from './pods-columns';
import { persistentVolumeClaimRow, persistentVolumeRow } from './volumes-columns';
import { createdAtRow } from '../columns/created-at';

const componentStatusRow: RowOf = (status) => {
  const healthy = listAt(status, 'conditions').find((each) => textAt(each, 'type') === 'Healthy');
  const word =
    healthy === undefined ? 'Unknown' : textAt(healthy, 'status') === 'True' ? 'Healthy' : 'Unhealthy';
  return [nameOf(status), word, textAt(healthy, 'message'), textAt(healthy, 'error')];
};

const configMapRow: RowOf = (map) => [
  nameOf(map),
  countOf(map, 'data') + countOf(map, 'binaryData'),
  ageOf(map),
];

const namespaceRow: RowOf = (namespace) => [
  nameOf(namespace),
  textAt(namespace, 'status', 'phase'),
  ageOf(namespace),
];

const podTemplateRow: RowOf = (template) => [
  nameOf(template),
  ...containerCells(at(template, 'template')),
  labelsText(mapAt(template, 'template', 'metadata', 'labels')),
];

const replicationControllerRow: RowOf = (controller) => [
  nameOf(controller),
  numberAt(controller, 'spec', 'replicas'),
  numberAt(controller, 'status', 'replicas'),
  numberAt(controller, 'status', 'readyReplicas'),
  ageOf(controller),
  ...containerCells(at(controller, 'spec', 'template')),
  labelsText(mapAt(controller, 'spec', 'selector')),
];

const resourceQuotaRow: RowOf = (quota) => {
  const names = Object.keys(mapAt(quota, 'status', 'hard')).toSorted();
  const isLimit = (name: string): boolean => name.startsWith('limits.');
  const usage = (name: string): string =>
    `${name}: ${scalarOr('0', quota, 'status', 'used', name)}/${scalarOr('0', quota, 'status', 'hard', name)}`;
  return [
    nameOf(quota),
    ageOf(quota),
    names
      .filter((name) => !isLimit(name))
      .map(usage)
      .join(', '),
    names.filter(isLimit).map(usage).join(', '),
  ];
};

const secretRow: RowOf = (secret) => [
  nameOf(secret),
  textAt(secret, 'type'),
  countOf(secret, 'data'),
  ageOf(secret),
];

const serviceAccountRow: RowOf = (account) => [
  nameOf(account),
  listAt(account, 'secrets').length,
  ageOf(account),
];

export const core: Readonly<Record<string, RowOf>> = {
  componentstatuses: componentStatusRow,
  configmaps: configMapRow,
  endpoints: endpointsRow,
  events: eventRow,
  limitranges: createdAtRow,
  namespaces: namespaceRow,
  nodes: nodeRow,
  persistentvolumeclaims: persistentVolumeClaimRow,
  persistentvolumes: persistentVolumeRow,
  pods: podRow,
  podtemplates: podTemplateRow,
  replicationcontrollers: replicationControllerRow,
  resourcequotas: resourceQuotaRow,
  secrets: secretRow,
  serviceaccounts: serviceAccountRow,
  services: serviceRow,
};
