# ncmpidump
