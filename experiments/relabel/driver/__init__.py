"""The page and the command operated as users do: a browser, a client, a process, their acts."""
