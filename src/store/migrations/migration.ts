/** SQL, or a function that makes it, for a schema that was committed in several forms under one version. */
export type Migration = string | ((hasColumn: (table: string, column: string) => boolean) => string);
