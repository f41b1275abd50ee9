import { RESERVED_PREFIX } from '../../../shared/names';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required, tooLong } from '../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import { optionalText, record, stringMap, text } from './accessors';
import { namedReference } from './env';
import { invalidForEach } from './primitives';

/** The parts that volumes of pods and persistent volumes have in common where they name a driver outside the cluster. */

const DRIVER_BYTES_MAX = 63;

/** The name of a CSI driver. */
export function csiDriverName(value: unknown, path: string): FieldError[] {
  const name = text(value);
  return [
    ...(name === '' ? [required(path)] : []),
    ...(Buffer.byteLength(name) > DRIVER_BYTES_MAX ? [tooLong(path, name, DRIVER_BYTES_MAX)] : []),
    ...invalidForEach(dns1123SubdomainProblems(name.toLowerCase()), name, path),
  ];
}

/** A CSI volume that lives as long as its pod. */
export function csiVolume(value: unknown, path: string): FieldError[] {
  const volume = record(value);
  return [
    ...csiDriverName(volume['driver'], `${path}.driver`),
    ...namedReference(volume['nodePublishSecretRef'], `${path}.nodePublishSecretRef`),
  ];
}

/** Options of a flex volume; the project's own names are not for users. */
export function flexOptions(value: unknown, path: string): FieldError[] {
  const domain = RESERVED_PREFIX.slice(0, -1);
  return Object.keys(stringMap(record(value)['options']))
    .filter((key) => {
      const [namespace = '', ...rest] = key.split('/');
      return rest.length === 1 && `.${namespace.toLowerCase()}`.endsWith(`.${domain}`);
    })
    .map((key) => invalid(`${path}.options[${key}]`, key, `the ${domain} namespace is reserved`));
}

const IQN = /^iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$/;
const EUI = /^eui\.[0-9A-Fa-f]{16}$/;
const NAA = /^naa\.[0-9A-Fa-f]{32}$/;
const FORMS: Readonly<Record<string, RegExp>> = { iqn: IQN, eui: EUI, naa: NAA };

/** The names of an iSCSI target and of who asks for it, and the secret that its authentication needs. */
export function iscsiNames(value: unknown, path: string): FieldError[] {
  const source = record(value);
  const iqn = text(source['iqn']);
  const initiator = optionalText(source['initiatorName']);
  const authenticates = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true;
  return [
    ...(iqn === '' ? [] : iscsiName(iqn, `${path}.iqn`)),
    ...(authenticates && source['secretRef'] === undefined ? [required(`${path}.secretRef`)] : []),
    ...(initiator === undefined ? [] : iscsiName(initiator, `${path}.initiatorName`)),
  ];
}

function iscsiName(name: string, path: string): FieldError[] {
  const form = FORMS[name.slice(0, 3)];
  return form?.test(name) === true ? [] : [invalid(path, name, 'must be valid format')];
}
