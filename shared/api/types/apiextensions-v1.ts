// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Base64, Int64, Time } from '../../object/values';
import type { ListMeta, ObjectMeta } from './meta-v1';

export type CustomResourceColumnDefinition = {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
};

export type CustomResourceConversion = {
  readonly strategy: string;
  readonly webhook?: WebhookConversion;
};

/** Adds a kind of object to the API. */
export type CustomResourceDefinition = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus;
};

export type CustomResourceDefinitionCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: Int64;
};

/** A list of objects of the kind CustomResourceDefinition. */
export type CustomResourceDefinitionList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly CustomResourceDefinition[] | null;
};

export type CustomResourceDefinitionNames = {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
};

export type CustomResourceDefinitionSpec = {
  readonly group: string;
  readonly names: CustomResourceDefinitionNames;
  readonly scope: string;
  readonly versions: readonly CustomResourceDefinitionVersion[] | null;
  readonly conversion?: CustomResourceConversion;
  readonly preserveUnknownFields?: boolean;
};

export type CustomResourceDefinitionStatus = {
  readonly conditions: readonly CustomResourceDefinitionCondition[] | null;
  readonly acceptedNames: CustomResourceDefinitionNames;
  readonly storedVersions: readonly string[] | null;
  readonly observedGeneration?: Int64;
};

export type CustomResourceDefinitionVersion = {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: CustomResourceValidation;
  readonly subresources?: CustomResourceSubresources;
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[];
  readonly selectableFields?: readonly SelectableField[];
};

export type CustomResourceSubresourceScale = {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
};

export type CustomResourceSubresourceStatus = Readonly<Record<string, never>>;

export type CustomResourceSubresources = {
  readonly status?: CustomResourceSubresourceStatus;
  readonly scale?: CustomResourceSubresourceScale;
};

export type CustomResourceValidation = {
  readonly openAPIV3Schema?: JSONSchemaProps;
};

export type ExternalDocumentation = {
  readonly description?: string;
  readonly url?: string;
};

export type JSONSchemaProps = {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: Int64;
  readonly minLength?: Int64;
  readonly pattern?: string;
  readonly maxItems?: Int64;
  readonly minItems?: Int64;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: Int64;
  readonly minProperties?: Int64;
  readonly required?: readonly string[];
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[];
  readonly allOf?: readonly JSONSchemaProps[];
  readonly oneOf?: readonly JSONSchemaProps[];
  readonly anyOf?: readonly JSONSchemaProps[];
  readonly not?: JSONSchemaProps;
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly additionalProperties?: JSONSchemaProps | boolean;
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly dependencies?: Readonly<Record<string, JSONSchemaProps | readonly string[] | null>>;
  readonly additionalItems?: JSONSchemaProps | boolean;
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>;
  readonly externalDocs?: ExternalDocumentation;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
};

export type SelectableField = {
  readonly jsonPath: string;
};

export type ServiceReference = {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
};

export type ValidationRule = {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
};

export type WebhookClientConfig = {
  readonly url?: string;
  readonly service?: ServiceReference;
  readonly caBundle?: Base64;
};

export type WebhookConversion = {
  readonly clientConfig?: WebhookClientConfig;
  readonly conversionReviewVersions: readonly string[] | null;
};
