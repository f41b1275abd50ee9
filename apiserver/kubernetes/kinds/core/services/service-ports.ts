import type { EndpointPort, ServicePort } from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { required } from '../../../../../shared/errors/field-error';
import { dns1123LabelProblems, qualifiedNameProblems } from '../../../../../shared/meta/dns-names';
import { invalidForEach, optionalForm, portNumber, requiredChoice } from '../../rules/primitives';

/** A port of a Service or of its endpoints. `target` is what is wrong with where it leads to. */
export function validateServicePort(
  { name, port, protocol, appProtocol: application }: EndpointPort | ServicePort,
  path: string,
  { needsName, target = [] }: { readonly needsName: boolean; readonly target?: readonly FieldError[] },
): FieldError[] {
  return [
    ...(needsName && (name ?? '') === '' ? [required(`${path}.name`)] : []),
    ...optionalForm(name, `${path}.name`, dns1123LabelProblems),
    ...portNumber(port, `${path}.port`),
    ...requiredChoice(protocol, `${path}.protocol`, PROTOCOLS),
    ...target,
    ...appProtocol(application, `${path}.appProtocol`),
  ];
}

/** The protocols of a port. */
const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** The name of a protocol above the transport, where there is one. */
export function appProtocol(name: string | undefined, path: string): FieldError[] {
  return name === undefined ? [] : invalidForEach(qualifiedNameProblems(name), name, path);
}
