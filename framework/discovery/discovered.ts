// What clients read of an aggregated discovery document (`apidiscovery.k8s.io/v2`).

/** `APIGroupDiscovery` */
export interface DiscoveredGroup {
  readonly metadata?: { readonly name?: string }
  readonly versions?: readonly {
    readonly version: string
    readonly resources?: readonly DiscoveredResource[]
  }[]
}

/** `APIResourceDiscovery` */
export interface DiscoveredResource {
  readonly resource: string
  readonly singularResource?: string
  readonly shortNames?: readonly string[]
  readonly scope?: string
  readonly verbs?: readonly string[]
  readonly responseKind?: { readonly kind?: string }
}

/** `APIGroupDiscoveryList` */
export interface DiscoveredGroups {
  readonly items?: readonly DiscoveredGroup[]
}
