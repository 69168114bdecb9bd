/** Values by content: equal keys get the same object while it is referenced. */
export interface SharedValues<T extends object> {
  get(key: string, make: () => T): T
}

/** Values are held weakly; keys of collected values are removed. */
export function createShared<T extends object>(): SharedValues<T> {
  const values = new Map<string, WeakRef<T>>()
  const gone = new FinalizationRegistry<string>(key => {
    if (values.get(key)?.deref() === undefined) values.delete(key)
  })
  return {
    get(key, make) {
      const known = values.get(key)?.deref()
      if (known !== undefined) return known
      const made = make()
      values.set(key, new WeakRef(made))
      gone.register(made, key)
      return made
    },
  }
}
