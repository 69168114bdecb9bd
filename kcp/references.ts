/** A reference across workspaces; without a path it means the referring object's own workspace. */
export interface PathReference {
  readonly path?: string
  readonly name: string
}

/** An APIExport, by the name (never the path) of its logical cluster. */
export interface ExportReference {
  readonly cluster: string
  readonly name: string
}
