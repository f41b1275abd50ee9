import type { RowOf } from '../columns/cells';
import { containerCells, countOf, labelsText } from '../columns/format';
import { ageOf, at, listAt, mapAt, nameOf, numberAt, scalarOr, textAt } from '../columns/read';

export const componentStatusRow: RowOf = (status) => {
  const healthy = listAt(status, 'conditions').find((each) => textAt(each, 'type') === 'Healthy');
  const word =
    healthy === undefined ? 'Unknown' : textAt(healthy, 'status') === 'True' ? 'Healthy' : 'Unhealthy';
  return [nameOf(status), word, textAt(healthy, 'message'), textAt(healthy, 'error')];
};

export const configMapRow: RowOf = (map) => [
  nameOf(map),
  countOf(map, 'data') + countOf(map, 'binaryData'),
  ageOf(map),
];

export const namespaceRow: RowOf = (namespace) => [
  nameOf(namespace),
  textAt(namespace, 'status', 'phase'),
  ageOf(namespace),
];

export const podTemplateRow: RowOf = (template) => [
  nameOf(template),
  ...containerCells(at(template, 'template')),
  labelsText(mapAt(template, 'template', 'metadata', 'labels')),
];

export const replicationControllerRow: RowOf = (controller) => [
  nameOf(controller),
  numberAt(controller, 'spec', 'replicas'),
  numberAt(controller, 'status', 'replicas'),
  numberAt(controller, 'status', 'readyReplicas'),
  ageOf(controller),
  ...containerCells(at(controller, 'spec', 'template')),
  labelsText(mapAt(controller, 'spec', 'selector')),
];

export const resourceQuotaRow: RowOf = (quota) => {
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

export const secretRow: RowOf = (secret) => [
  nameOf(secret),
  textAt(secret, 'type'),
  countOf(secret, 'data'),
  ageOf(secret),
];

export const serviceAccountRow: RowOf = (account) => [
  nameOf(account),
  listAt(account, 'secrets').length,
  ageOf(account),
];
