import type { StatusError } from '../../../shared/errors/status-error';
import { forbidden } from '../../../shared/errors/status-error';
import type { AdmissionAttributes } from '../../engine/registry/admission';

/** Creates the 403 of a plugin. With generateName it names the prefix. */
export function refusal(attributes: AdmissionAttributes, why: string): StatusError {
  return forbidden(attributes.write.endpoint.row, nameOf(attributes), why);
}

function nameOf({ write: { subresource, name }, operation, object }: AdmissionAttributes): string {
  if (operation !== 'CREATE' || subresource !== '' || object === undefined) return name;
  const { name: given = '', generateName = '' } = object.metadata;
  return [given, generateName, name].find((each) => each !== '') ?? 'Unknown';
}
