/** What identifies a claim in both versions. */
export interface ClaimIdentity {
  readonly group?: string
  readonly resource: string
  readonly identityHash?: string
}

/** `spec.permissionClaims[]` of v1alpha1; `state` only in bindings. */
export interface ClaimV1 extends ClaimIdentity {
  readonly all?: boolean
  readonly resourceSelector?: readonly unknown[]
  readonly state?: string
}

/** A label selector, or all objects. */
export interface ClaimSelector {
  readonly matchAll?: boolean
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly unknown[]
}

/** `spec.permissionClaims[]` of v1alpha2: exports have `defaultSelector`, bindings `selector` and `state`. */
export interface ClaimV2 extends ClaimIdentity {
  readonly verbs?: readonly string[]
  readonly defaultSelector?: ClaimSelector
  readonly selector?: ClaimSelector
  readonly state?: string
}
