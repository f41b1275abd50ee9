import { ANNOTATION } from '../../../shared/names';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import { parseTime } from '../../../shared/meta/time';
import type { Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalText, records, text } from '../../../shared/object/accessors';
import { reachableAddress } from '../rules/addresses';
import { forEachItem, invalidForEach, optionalForm } from '../rules/primitives';
import { validateServicePort } from './service-ports';

export const endpointsRules: Pick<Strategy, 'validate'> = {
  validate: (object) => {
    const key = ANNOTATION.endpointsLastChange;
    const changed = object.metadata.annotations?.[key];
    return [
      ...(changed === undefined || parseTime(changed) !== undefined
        ? []
        : [invalid(`metadata.annotations[${key}]`, changed, 'must be an RFC3339 time')]),
      ...forEachItem(records(object['subsets']), 'subsets', validateSubset),
    ];
  },
};

function validateSubset(subset: Json, path: string): FieldError[] {
  const ready = records(subset['addresses']);
  const notReady = records(subset['notReadyAddresses']);
  const ports = records(subset['ports']);
  return [
    ...(ready.length + notReady.length === 0
      ? [required(path, 'must specify `addresses` or `notReadyAddresses`')]
      : []),
    ...forEachItem(ready, `${path}.addresses`, validateAddress),
    ...forEachItem(notReady, `${path}.notReadyAddresses`, validateAddress),
    ...forEachItem(ports, `${path}.ports`, (port, portPath) =>
      validateServicePort(port, portPath, { needsName: ports.length > 1 }),
    ),
  ];
}

function validateAddress(address: Json, path: string): FieldError[] {
  const node = optionalText(address['nodeName']);
  return [
    ...reachableAddress(text(address['ip']), `${path}.ip`),
    ...optionalForm(address['hostname'], `${path}.hostname`, dns1123LabelProblems),
    ...(node === undefined ? [] : invalidForEach(dns1123SubdomainProblems(node), node, `${path}.nodeName`)),
  ];
}
