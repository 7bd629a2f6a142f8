/** What the examples use of `sqlite3`. Its own types are missing where npm cannot install it, because it is optional. */
declare module 'sqlite3' {
  namespace sqlite3 {
    class Database {
      constructor(filename: string);
      all<Row>(sql: string, values: readonly unknown[], callback: (error: Error | null, rows: Row[]) => void): void;
      close(): void;
    }
  }
  export default sqlite3;
}
