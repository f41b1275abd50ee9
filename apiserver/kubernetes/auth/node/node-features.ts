/** The features, each a gate of v1.21, on which it depends what nodes may do. */
export interface NodeFeatures {
  /** Nodes tell how far volumes have grown. */
  readonly volumesGrow: boolean;
  /** Volumes are made for pods. */
  readonly ephemeralVolumes: boolean;
  /** The agents of nodes are configured by ConfigMaps. */
  readonly nodeConfiguration: boolean;
}
