//! Folders of tests.

use std::path::{Path, PathBuf};

/// A folder that goes away.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one, of this process.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("perilune-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    pub fn path(&self) -> &Path {
        &self.0
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.file(name), bytes).unwrap();
        self.file(name)
    }
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
